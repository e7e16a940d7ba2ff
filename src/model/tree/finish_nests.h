#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Works out enclosing tiles, trips, the tile sizes at every storage node and the reservations.
/// Reports tiles that do not fit into the enclosing one and loops that do not reach tiles of one.
void finish_nests(const BoundProblem& problem, FlatTree& tree, ViolationReport& report);

/// One past the last storage of a nest that holds anything: what stands below a copy's last backing
/// node does not exist.
std::uint32_t reserved_end(const BoundProblem& problem, const FlatTree& tree, const Nest& nest);

/// True for the storage of a memory further in than both ends of a copy: it takes no part in it.
bool lies_beyond_copy(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      const NestStorage& storage);

/// Indices of one rank that a tile touches.
std::int64_t tile_extent(const BoundIndex& index, const std::int64_t* tiles);

/// Number of values in the tile of an access, given the tile of each variable of its Einsum.
std::int64_t tile_volume(const BoundAccess& access, const std::int64_t* tiles);

/// The same for the backing storage, which also holds the slices that other Einsums are behind or
/// ahead.
std::int64_t backing_volume(const BoundAccess& access, const std::int64_t* tiles);

}  // namespace sluice
