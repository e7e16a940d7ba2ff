#pragma once

#include <cstdint>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice::fused {

struct EinsumShape;

// Row-wise fusion (docs/model.md): where one Einsum alone reads
// what another makes, a rank as s·q + r, both may share a temporal loop. Its tile is the reader's;
// the maker's first tile is the rows that the reader's first step needs, its later ones are the
// rows that are new. A frame is such a loop as all Einsums that could stand under it know it: the
// reader, the Einsums before it whose rows follow from the reader's, and those that walk the same
// tiles.

/// A loop over one Einsum's variable in a frame.
struct RowLoop {
  std::int64_t frame = 0;      ///< from 1 on
  std::uint32_t variable = 0;  ///< local
  /// Whether its tiles are the reader's own; others follow from who takes the output under the
  /// loop.
  bool even = true;
  std::int64_t size = 1;              ///< of the reader's variable
  std::vector<std::int64_t> trips;    ///< what it may run (trip_choices.h)
  std::vector<std::int32_t> rank_of;  ///< per local tensor: the rank that it walks, or -1
  std::vector<bool> carries;          ///< per local tensor: two steps have rows of it in common
  bool operator==(const RowLoop&) const = default;
};

/// The tile of a loop in a frame (0: in none), as all Einsums under it agree on it.
inline constexpr std::int64_t kSharedRows = std::int64_t{1} << 61;  ///< no tile is as large
inline std::int64_t shared_rows(std::int64_t frame, std::int64_t tile) {
  return kSharedRows | frame << 40 | tile;
}
inline std::int64_t frame_of(std::int64_t shared) {
  return shared < kSharedRows ? 0 : (shared & (kSharedRows - 1)) >> 40;
}
/// What a mapping says of the loop's tile: the reader's.
inline std::int64_t stated_tile(std::int64_t shared) {
  return shared < kSharedRows ? shared : shared & ((std::int64_t{1} << 40) - 1);
}

/// Finds the frames of a workload; fills EinsumShape::row_loops and LocalTensor::rows.
void add_row_loops(const BoundProblem& problem, std::vector<EinsumShape>* shapes);

}  // namespace sluice::fused
