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
  /// Of these, the ones whose reservation is theirs for as long as they live: no copy shares it.
  std::vector<std::vector<double>> alone;
  std::vector<double> persistent;  ///< newly held for the whole run
};

/// What is known of each tensor, whatever is joined.
struct TensorUses {
  std::vector<std::size_t> last;         ///< the last Einsum that uses it, as in join_spines
  std::vector<std::size_t> last_copied;  ///< the last Einsum that copies it; 0: none
};

/// Joins Einsum number `einsum`. The two must match.
JoinPlan plan_join(const Spine& prefix, const Spine& next,
                   const std::vector<TrackedMemory>& tracked, const TensorUses& uses,
                   std::size_t einsum);

}  // namespace sluice::fused
