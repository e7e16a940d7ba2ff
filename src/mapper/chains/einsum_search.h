#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "chain_choice.h"
#include "sluice/model/cost_bounds.h"
#include "sluice/model/einsum_chains.h"

namespace sluice::chains {

/// What a part's energy (J) and latency (s) are worth beside those of the whole, to first order.
EinsumChains::Worth worth(Objective objective, const CostTotals& whole);

/// Good chains of one Einsum that exchanges its tensors in a given way.
class EinsumSearch {
 public:
  /// Memories that back tensors which it shares with others; all else lies in the outermost memory,
  /// as far as it may.
  using Backings = std::vector<std::pair<TensorId, ComponentId>>;
  /// `bounded`: the whole workload, with what constraints ask of its memories and spatial loops.
  /// `outermost`: of EinsumChains::good_chains(). `halvings`: how often the room of memories is
  /// halved, for what others hold meanwhile: of those that back tensors, and of those outside of
  /// them but for the outermost one.
  EinsumSearch(const BoundProblem& bounded, EinsumId einsum, const Backings& backings,
               ChainSteps outermost, int halvings = 0);
  EinsumSearch(const EinsumSearch&) = delete;
  EinsumSearch& operator=(const EinsumSearch&) = delete;

  /// Ways to spread the points, or groups of them.
  std::size_t n_ways() const { return tried_.size(); }
  /// What the Einsum costs at least if its points are spread in the i-th way.
  CostTotals least(std::size_t way) const;
  /// Looks at up to so many ways more to spread the points, those first that may be cheapest, until
  /// one leads to a choice of `space`, and on if `goes_on`. `like`: of choice_of(). `cancel` may be
  /// null. False: there is no way left that may be better.
  bool search(std::size_t most_ways, bool goes_on, const EinsumChains::Worth& worth,
              const fused::Compatibility* like, sampling::MapSpace* space, sampling::FanoutUse* use,
              const std::atomic<bool>* cancel);
  const std::optional<PricedChoice>& best() const { return best_; }
  /// The best, in another space from now on.
  void move(const sampling::MapSpace& from, sampling::MapSpace* to);

 private:
  void add_ways();
  std::optional<std::size_t> next_way(std::size_t begin, double limit,
                                      const EinsumChains::Worth& worth) const;
  std::optional<std::size_t> next_spread(double limit, const EinsumChains::Worth& worth,
                                         const std::atomic<bool>* cancel);

  EinsumId einsum_;
  BoundProblem problem_;
  ChainSteps outermost_;
  EinsumChains chains_;
  CostBounds traffic_;
  std::vector<char> tried_;  ///< per way
  std::optional<PricedChoice> best_;
  double use_ = 0;  ///< of the instances that are asked for, by the best one
};

}  // namespace sluice::chains
