#pragma once

#include <map>
#include <vector>

#include "lane.h"

namespace sluice::referee {

/// The tile of one Einsum's loop variable in each step of a loop.
struct Walk {
  std::size_t variable = 0;  ///< place in the iteration space
  std::vector<Range> steps;  ///< ascending; an empty one: no work in this step
  bool follows = false;      ///< they are what readers need, not tiles of the loop's shape
};

/// How every Einsum of a lane walks a loop; one that does not use the loop's variables is absent.
/// Where a consumer reads `s*q + r` of what another Einsum of the lane makes along the same loop,
/// the maker's steps are the rows that the consumer needs next (specs.md, "Shared ranks").
std::map<EinsumId, Walk> loop_schedule(const Workload& workload, const LoopItem& loop,
                                       const Lane& lane);

/// The number of steps: that of the Einsum with most.
std::size_t step_count(const std::map<EinsumId, Walk>& schedule);

/// The lane's boxes in one step. Einsums without work in it are left out.
std::map<EinsumId, Box> boxes_in_step(const Lane& lane, const std::map<EinsumId, Walk>& schedule,
                                      std::size_t step);

}  // namespace sluice::referee
