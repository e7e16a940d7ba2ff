#include "einsum_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mapper/common/part_of_problem.h"
#include "model/bind/operand_costs.h"

namespace sluice::chains {
namespace {

constexpr std::size_t kFewSpreads = 1000;  // in one list: few are looked at

/// An Einsum by itself that holds its tensors where it is told to, and all others in the outermost
/// memory, as far as it may.
class AloneIn {
 public:
  AloneIn(const BoundProblem& bounded, EinsumId einsum, const EinsumSearch::Backings& backings,
          int halvings)
      : one_(one_as_bound(bounded, einsum)), bound_(one_.einsums.front()) {
    for (const BoundCompute& compute : bound_.computes) ask_outermost(compute, backings);
    for (const auto& [tensor, memory] : backings) {
      const TensorMask bit = TensorMask{1} << bound_.local_tensor[tensor.index()];
      for (std::size_t c = 0; c < memory.index(); ++c) {
        bound_.components[c].forbidden |= bit;
        bound_.components[c].asked &= ~bit;
      }
      bound_.components[memory.index()].asked |= bit;
    }
    for (const BoundCompute& compute : bound_.computes) settle_rules(compute);
    halve_double_buffers();
    leave_room(backings, halvings);
    forget_other_accesses();
  }

  BoundProblem take() { return std::move(one_); }

 private:
  std::vector<ComponentId> memories_of(const BoundCompute& compute) const {
    std::vector<ComponentId> memories;
    for (const ComponentId component : compute.path)
      if (one_.arch[component].is_memory() && bound_.components[component.index()].enabled)
        memories.push_back(component);
    return memories;
  }

  void ask_outermost(const BoundCompute& compute, const EinsumSearch::Backings& backings) {
    const std::vector<ComponentId> memories = memories_of(compute);
    if (memories.empty()) return;
    TensorMask asked = 0;
    for (std::size_t t = 0; t < bound_.tensors.size(); ++t)
      if (hold_of(one_, EinsumId(0), memories.front(), bound_.tensors[t]).may)
        asked |= TensorMask{1} << t;
    for (const auto& [tensor, memory] : backings)
      asked &= ~(TensorMask{1} << bound_.local_tensor[tensor.index()]);
    bound_.components[memories.front().index()].asked |= asked;
  }

  /// Rules that name other memories are known where all of these only hold what they are asked to.
  void settle_rules(const BoundCompute& compute) {
    const std::vector<ComponentId> memories = memories_of(compute);
    std::vector<TensorMask> held(one_.arch.components.size(), 0);
    std::vector<ComponentId> known;
    for (const ComponentId memory : memories) {
      BoundComponent& own = bound_.components[memory.index()];
      const auto is_known = [&](const KeepRule& rule) {
        return std::all_of(rule.depends_on.begin(), rule.depends_on.end(), [&](ComponentId other) {
          return std::find(known.begin(), known.end(), other) != known.end();
        });
      };
      if (is_known(own.keep) && is_known(own.may_keep) && is_known(own.back)) {
        if (const auto sets = keep_sets(one_, EinsumId(0), memory, held)) {
          own.asked |= sets->must;
          own.forbidden |= ~(sets->must | sets->may | own.asked);
        }
      }
      held[memory.index()] = own.asked;
      if (memory == memories.front()) known.push_back(memory);
    }
  }

  /// Chains do not know of the other half.
  void halve_double_buffers() {
    for (std::size_t c = 0; c < bound_.components.size(); ++c)
      if (const Component& own = one_.arch[ComponentId(c)];
          own.is_memory() && std::get<Memory>(own.kind).buffering == Buffering::kDouble)
        bound_.components[c].size_bits /= 2;
  }

  void leave_room(const EinsumSearch::Backings& backings, int halvings) {
    const std::vector<ComponentId> memories = memories_of(bound_.computes.front());
    std::size_t end = 1;  // of those to leave room in
    for (const auto& [tensor, memory] : backings) {
      const auto at = std::find(memories.begin(), memories.end(), memory);
      if (at != memories.end())
        end = std::max(end, static_cast<std::size_t>(at - memories.begin()) + 1);
    }
    for (std::size_t i = 1; i < end; ++i)
      bound_.components[memories[i].index()].size_bits =
          std::ldexp(bound_.components[memories[i].index()].size_bits, -halvings);
  }

  /// Chains know one access to each tensor: of a state, the one that writes it, of other tensors
  /// the first one. What the others cost is left out.
  void forget_other_accesses() {
    Einsum& einsum = one_.workload.einsums.front();
    const auto is_other = [](const auto& all, const auto& access) {
      const auto is_better = [&](const auto& other) {
        return other.tensor == access.tensor &&
               (other.is_output != access.is_output ? other.is_output : &other < &access);
      };
      return std::any_of(all.begin(), all.end(), is_better);
    };
    const auto forget = [&](auto* accesses) {
      std::remove_reference_t<decltype(*accesses)> kept;
      for (const auto& access : *accesses)
        if (!is_other(*accesses, access)) kept.push_back(access);
      *accesses = std::move(kept);
    };
    forget(&einsum.accesses);
    forget(&bound_.accesses);
    for (BoundAccess& access : bound_.accesses)
      if (access.is_output) access.leaves_ranks = false;
  }

  BoundProblem one_;
  BoundEinsum& bound_;
};

}  // namespace

EinsumChains::Worth worth(Objective objective, const CostTotals& whole) {
  // A little of the other one, so that of equals it is the better one.
  constexpr double kLittle = 1e-6;
  return {whole.latency_s * (objective == Objective::kLatency ? kLittle : 1),
          whole.energy_j * (objective == Objective::kEnergy ? kLittle : 1)};
}

EinsumSearch::EinsumSearch(const BoundProblem& bounded, EinsumId einsum, const Backings& backings,
                           ChainSteps outermost, int halvings)
    : einsum_(einsum),
      problem_(AloneIn(bounded, einsum, backings, halvings).take()),
      outermost_(std::move(outermost)),
      chains_(problem_, EinsumId(0), Counted::kPart, std::nullopt, kFewSpreads),
      traffic_(outer_traffic_bounds(problem_)) {
  add_ways();
}

void EinsumSearch::add_ways() {
  for (std::size_t w = tried_.size(); w < chains_.spreads().size(); ++w)
    tried_.push_back(chains_.begins_with(w, outermost_) ? 0 : 1);
}

CostTotals EinsumSearch::least(std::size_t way) const {
  const SpreadBound& bound = chains_.spreads()[way];
  CostTotals totals;
  totals.energy_j = bound.energy_j + traffic_.energy_floor_j;
  totals.latency_s = std::max(bound.seconds, traffic_.memory_s);
  return totals;
}

/// Of those from `begin` on that may cost less than `limit`, the first one to look at: those that
/// use as many instances as they are asked to come before others.
std::optional<std::size_t> EinsumSearch::next_way(std::size_t begin, double limit,
                                                  const EinsumChains::Worth& worth) const {
  std::optional<std::size_t> next;
  std::pair<double, double> first = {-use_, limit};
  for (std::size_t w = begin; w < tried_.size(); ++w) {
    if (tried_[w] != 0) continue;
    const CostTotals totals = least(w);
    const double own = worth(totals.energy_j, totals.latency_s);
    if (!(own < limit) || !(std::pair(-1.0, own) < first)) continue;
    if (const std::pair order(-chains_.demanded_use(w), own); order < first) {
      first = order;
      next = w;
    }
  }
  return next;
}

/// One that is no group, if there is room to split them: from a group on to the best of its parts,
/// and of theirs.
std::optional<std::size_t> EinsumSearch::next_spread(double limit, const EinsumChains::Worth& worth,
                                                     const std::atomic<bool>* cancel) {
  std::optional<std::size_t> next = next_way(0, limit, worth);
  while (next && chains_.spreads()[*next].is_group && chains_.may_split() &&
         !is_cancelled(cancel)) {
    const std::size_t n_before = tried_.size();
    tried_[*next] = 1;
    chains_.split(*next);
    add_ways();
    next = next_way(n_before, limit, worth);
    if (!next) next = next_way(0, limit, worth);
  }
  return next;
}

bool EinsumSearch::search(std::size_t most_ways, bool goes_on, const EinsumChains::Worth& worth,
                          const fused::Compatibility* like, sampling::MapSpace* space,
                          sampling::FanoutUse* use, const std::atomic<bool>* cancel) {
  const auto price_of = [&](const CostTotals& totals) {
    return worth(totals.energy_j, totals.latency_s);
  };
  double least_price = best_ ? price_of(best_->totals) : std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < most_ways && !is_cancelled(cancel); ++n) {
    if (best_ && !goes_on) return true;
    const auto next = next_spread(least_price, worth, cancel);
    if (!next) return false;
    tried_[*next] = 1;
    if (chains_.spreads()[*next].is_group) continue;
    for (const Chain& chain : chains_.good_chains(*next, worth, outermost_, cancel)) {
      auto found = choice_of(chain, einsum_.index(), worth, like, outermost_, space, use);
      if (!found || price_of(found->totals) >= least_price) continue;
      least_price = price_of(found->totals);
      use_ = chains_.demanded_use(*next);
      best_ = std::move(found);
    }
  }
  return true;
}

void EinsumSearch::move(const sampling::MapSpace& from, sampling::MapSpace* to) {
  if (best_) best_->choice = to->take(einsum_.index(), *best_->choice, from);
}

}  // namespace sluice::chains
