#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/nest.h"

namespace sluice {

/// What a storage node marked `incremental` fetches over one run, as one instance sees it.
struct Refetches {
  std::int64_t values = 0;  ///< in all visits
  std::int64_t visits = 0;  ///< visits that fetch something
};

/// The first tile, and at each later step of the temporal loops above (`loops`, outermost first,
/// all dividing evenly) what the tile before did not hold: `tiles` are the sizes of the variables'
/// tiles at the node. A tile that moves forwards along one rank, as the innermost loop moves it,
/// brings its new part; any other move, and any move of an output, brings it whole.
Refetches refetches(const BoundAccess& access, const std::int64_t* tiles, const NestLoop* loops,
                    int n_loops);

/// Whether a step of these loops moves the tile below the first `n_outer`, and not that below the
/// first `n_inner`: windows that overlap.
bool stays_inside(const BoundAccess& access, const NestLoop* loops, int n_outer, int n_inner);

/// How many different tiles the instances of these spatial loops hold, which index the tensor.
/// Where several of them move one index (`p + r`), instances on a diagonal hold the same tile.
std::int64_t different_tiles(const BoundAccess& access, const std::vector<const NestLoop*>& loops);

}  // namespace sluice
