#pragma once

#include <cstddef>
#include <vector>

#include "mapper/space/pmapping.h"
#include "mapper/space/spine.h"

namespace sluice::fused {

/// What joining an Einsum to a spine asks of the memories, whatever pmappings are joined.
struct JoinPlan {
  Spine spine;                 ///< after the join, closed loops dropped
  std::size_t left_depth = 0;  ///< open loops of the prefix
  std::size_t next_depth = 0;  ///< fused loops of the next Einsum
  std::size_t depth = 0;       ///< open loops after the join
  // Per memory and level 0 … next_depth, in bits:
  std::vector<std::vector<double>> during;  ///< shared tensors alive while the next Einsum runs
  std::vector<std::vector<double>> after;   ///< of these, the ones that stay alive
  std::vector<double> persistent;           ///< newly held for the whole run
};

/// Joins Einsum number `einsum`; `last_use` per tensor, as in join_spines. The two must match.
JoinPlan plan_join(const Spine& prefix, const Spine& next,
                   const std::vector<TrackedMemory>& tracked,
                   const std::vector<std::size_t>& last_use, std::size_t einsum);

}  // namespace sluice::fused
