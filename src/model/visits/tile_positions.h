#pragma once

#include <cstdint>
#include <vector>

#include "model/visits/visit_sum.h"

namespace sluice {

/// One visit's interval of one variable.
struct TileAt {
  std::int64_t offset = 0;
  std::int64_t size = 1;
  bool first = true;
  bool slid = false;
};
using TilesAt = std::vector<TileAt>;

/// The tiles inside a loop, one by one, given those outside. `step`: the one that counts where the
/// effect is kAt.
TilesAt tiles_in_loop(const TilesAt& outside, const NestLoop& loop, LoopEffect effect,
                      std::int64_t step = 0);

/// Ranks of an access that are tied together by common variables, and those variables.
struct RankGroup {
  std::vector<std::size_t> ranks, variables;
};

std::vector<RankGroup> rank_groups(const BoundAccess& access);

}  // namespace sluice
