#include "einsum_search.h"

#include <algorithm>
#include <limits>

#include "mapper/common/part_of_problem.h"
#include "model/bind/operand_costs.h"

namespace sluice::chains {
namespace {

/// An Einsum by itself that holds its tensors where it is told to. A double buffer has half of its
/// room: chains do not know of the other half.
BoundProblem alone_in(const BoundProblem& bounded, EinsumId einsum,
                      const EinsumSearch::Backings& backings) {
  BoundProblem one = one_as_bound(bounded, einsum);
  BoundEinsum& bound = one.einsums.front();
  TensorMask exchanged = 0;
  for (const auto& [tensor, memory] : backings) {
    const TensorMask bit = TensorMask{1} << bound.local_tensor[tensor.index()];
    exchanged |= bit;
    for (std::size_t c = 0; c < memory.index(); ++c) bound.components[c].forbidden |= bit;
    bound.components[memory.index()].asked |= bit;
  }
  for (const BoundCompute& compute : bound.computes) {
    const auto outermost = std::find_if(
        compute.path.begin(), compute.path.end(), [&](ComponentId component) {
          return one.arch[component].is_memory() && bound.components[component.index()].enabled;
        });
    if (outermost == compute.path.end()) continue;
    TensorMask asked = 0;
    for (std::size_t t = 0; t < bound.tensors.size(); ++t)
      if (hold_of(one, EinsumId(0), *outermost, bound.tensors[t]).may) asked |= TensorMask{1} << t;
    bound.components[outermost->index()].asked |= asked & ~exchanged;
  }
  for (std::size_t c = 0; c < bound.components.size(); ++c)
    if (const Component& own = one.arch[ComponentId(c)];
        own.is_memory() && std::get<Memory>(own.kind).buffering == Buffering::kDouble)
      bound.components[c].size_bits /= 2;
  return one;
}

}  // namespace

EinsumChains::Worth worth(Objective objective, const CostTotals& whole) {
  // A little of the other one, so that of equals it is the better one.
  constexpr double kLittle = 1e-6;
  return {whole.latency_s * (objective == Objective::kLatency ? kLittle : 1),
          whole.energy_j * (objective == Objective::kEnergy ? kLittle : 1)};
}

EinsumSearch::EinsumSearch(const BoundProblem& bounded, EinsumId einsum, const Backings& backings,
                           ChainSteps outermost)
    : einsum_(einsum),
      problem_(alone_in(bounded, einsum, backings)),
      outermost_(std::move(outermost)),
      chains_(problem_, EinsumId(0)),
      traffic_(outer_traffic_bounds(problem_)),
      tried_(chains_.spreads().size(), 0) {
  for (std::size_t w = 0; w < tried_.size(); ++w)
    if (!chains_.begins_with(w, outermost_)) tried_[w] = 1;
}

CostTotals EinsumSearch::least(std::size_t way) const {
  const SpreadBound& bound = chains_.spreads()[way];
  CostTotals totals;
  totals.energy_j = bound.energy_j + traffic_.energy_floor_j;
  totals.latency_s = std::max(bound.seconds, traffic_.memory_s);
  return totals;
}

void EinsumSearch::search(std::size_t most_ways, bool goes_on, const EinsumChains::Worth& worth,
                          const fused::Compatibility* like, sampling::MapSpace* space, sampling::FanoutUse* use,
                          const std::atomic<bool>* cancel) {
  const auto price_of = [&](const CostTotals& totals) {
    return worth(totals.energy_j, totals.latency_s);
  };
  double least_price =
      best_ ? price_of(best_->totals) : std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < most_ways && !is_cancelled(cancel); ++n) {
    if (best_ && !goes_on) return;
    // Those first that use as many instances as they are asked to.
    std::optional<std::size_t> next;
    std::pair<double, double> first = {-use_, least_price};
    for (std::size_t w = 0; w < tried_.size(); ++w) {
      if (tried_[w] != 0) continue;
      const double own = price_of(least(w));
      if (const std::pair order(-chains_.demanded_use(w), own); own < least_price && order < first) {
        first = order;
        next = w;
      }
    }
    if (!next) return;
    tried_[*next] = 1;
    for (const Chain& chain : chains_.good_chains(*next, worth, outermost_, cancel)) {
      auto found = choice_of(chain, einsum_.index(), worth, like, space, use);
      if (!found || price_of(found->totals) >= least_price) continue;
      least_price = price_of(found->totals);
      use_ = -first.first;
      best_ = std::move(found);
    }
  }
}

}  // namespace sluice::chains
