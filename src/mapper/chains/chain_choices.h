#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "einsum_search.h"
#include "mapper/sampling/fanout_use.h"
#include "mapper/sampling/map_space.h"
#include "sluice/mapper/mapper.h"

namespace sluice::chains {

/// How an Einsum exchanges its tensors.
struct Exchange {
  EinsumSearch::Backings backings;
  ChainSteps outermost;  ///< loops that it shares, and nodes of shared tensors below them
  /// What it may take of inner memories, as others hold something there, too: a half, so often
  /// halved.
  int halvings = 0;
};

/// Good choices of Einsums below the loops that they share with others, by chains. What was found
/// is remembered. Not safe to share between threads.
class ChainChoices {
 public:
  /// All must outlive it; `cancel` may be null.
  ChainChoices(sampling::MapSpace* space, sampling::FanoutUse* use,
               const std::atomic<bool>* cancel);

  /// A choice that exchanges all tensors as `like` does; null where chains know none. `whole`: what
  /// the whole mapping costs about, which says what energy and latency are worth.
  /// `halvings`: of Exchange.
  sampling::ChoicePtr of(std::size_t einsum, const sampling::EinsumChoice& like,
                         const CostTotals& whole, int halvings = 0);
  /// One that exchanges them so; null where chains know none.
  sampling::ChoicePtr of(std::size_t einsum, const Exchange& exchange, const CostTotals& whole);

 private:
  using Key = std::vector<std::int64_t>;
  sampling::ChoicePtr find(std::size_t einsum, const Exchange& exchange,
                           const fused::Compatibility* like, const CostTotals& whole);

  sampling::MapSpace& space_;
  sampling::FanoutUse& use_;
  const std::atomic<bool>* cancel_;
  BoundProblem bounded_;
  std::map<Key, sampling::ChoicePtr> known_;
};

}  // namespace sluice::chains
