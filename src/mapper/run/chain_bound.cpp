#include "chain_bound.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <variant>

#include "chain_mapping.h"
#include "mapper/common/parallel.h"
#include "mapper/common/rounding.h"
#include "mapper/request/constraint_check.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

/// Whether every fanout is used as much as `min_usage` wants: what uses less may be in the space or
/// not, as others allow.
bool uses_enough(const BoundEinsum& bound, const Chain& chain) {
  const auto compute =
      std::find_if(bound.computes.begin(), bound.computes.end(),
                   [&](const BoundCompute& own) { return own.component == chain.compute; });
  for (const ComponentId component : compute->path) {
    const std::vector<BoundSpatial>& spatial = bound.components[component.index()].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      double used = 1;
      for (const auto& step : chain.steps)
        if (const auto* loop = std::get_if<ChainLoop>(&step))
          if (loop->spatial == std::pair(component, d)) used *= static_cast<double>(loop->trips);
      if (used < spatial[d].min_usage * static_cast<double>(spatial[d].fanout)) return false;
    }
  }
  return true;
}

/// The order that constraints ask for, of loops between two nodes: what they cost is the same in
/// any, but for one that moves a window.
void order_loops(const BoundProblem& problem, EinsumId id, const Constraints& constraints,
                 Chain* chain) {
  const Einsum& einsum = problem.workload[id];
  const auto node_at = [&](std::size_t i) { return std::get_if<ChainNode>(&chain->steps[i]); };
  for (const LoopOrderConstraint& constraint : constraints.loop_orders) {
    if (constraint.einsum && *constraint.einsum != id) continue;
    std::size_t begin = chain->steps.size();  // after the memory's innermost node
    for (std::size_t i = 0; i < chain->steps.size(); ++i)
      if (node_at(i) != nullptr && node_at(i)->memory == constraint.memory) begin = i + 1;
    const auto rank_of = [&](std::size_t i) {
      const RankVariableId variable =
          einsum.iteration_space[std::get<ChainLoop>(chain->steps[i]).variable].variable;
      return std::find(constraint.order.begin(), constraint.order.end(), variable) -
             constraint.order.begin();
    };
    std::vector<std::size_t> loops;
    for (std::size_t i = begin; i < chain->steps.size() && node_at(i) == nullptr; ++i)
      if (!std::get<ChainLoop>(chain->steps[i]).spatial &&
          rank_of(i) < static_cast<std::ptrdiff_t>(constraint.order.size()))
        loops.push_back(i);
    std::vector<std::size_t> ordered = loops;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](std::size_t i, std::size_t j) { return rank_of(i) < rank_of(j); });
    const auto before = chain->steps;
    for (std::size_t n = 0; n < loops.size(); ++n) chain->steps[loops[n]] = before[ordered[n]];
  }
}

}  // namespace

std::optional<ChainBound> ChainBound::of(const BoundProblem& problem, const BoundProblem& bounded,
                                         const MapperOptions& options, Incumbent* incumbent,
                                         int threads, const std::atomic<bool>* cancel) {
  switch (options.objectives.front()) {
    case Objective::kEnergy:
      return ChainBound(problem, bounded, options, incumbent, threads, ProblemChains::Goal::kEnergy,
                        cancel);
    case Objective::kEdp:
      return ChainBound(problem, bounded, options, incumbent, threads, ProblemChains::Goal::kEdp,
                        cancel);
    case Objective::kLatency:
      break;
  }
  return std::nullopt;
}

ChainBound::ChainBound(const BoundProblem& problem, const BoundProblem& bounded,
                       const MapperOptions& options, Incumbent* incumbent, int threads,
                       ProblemChains::Goal goal, const std::atomic<bool>* cancel)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      threads_(threads),
      chains_(std::make_unique<ProblemChains>(
          bounded, goal, options.row_fusion ? Counted::kPart : Counted::kWhole, cancel)) {}

bool ChainBound::refine(double seconds, const Incumbent& known, const std::atomic<bool>* cancel,
                        const std::function<void(double)>& tell) {
  const auto start = std::chrono::steady_clock::now();
  double told = 0;
  const auto in_parallel = [&](std::size_t count, const auto& body) {
    parallel_for(threads_, count, body);
  };
  const auto tell_bound = [&] {
    const double bound = surely_below(std::min(chains_->bound(), known.objective()));
    if (bound > told && tell) tell(bound);
    told = std::max(told, bound);
  };
  tell_bound();
  while (!is_cancelled(cancel) && seconds_since(start) < seconds) {
    // As good as what is known, too: what comes out is to be the same whatever that is.
    if (!chains_->refine(known.objective() * kAboveRounding, in_parallel, cancel)) return false;
    offer_mappings();
    tell_bound();
    if (proven()) return false;
  }
  return true;
}

void ChainBound::offer_mappings() {
  if (incumbent_ == nullptr) return;
  while (auto chain = chains_->next_chain()) offer({*std::move(chain)});
  if (!chains_->are_apart() || problem_.einsums.size() == 1) return;
  auto chains = chains_->cheapest_chains();
  if (!chains.empty()) offer(std::move(chains));
}

void ChainBound::offer(std::vector<Chain> chains) {
  for (std::size_t e = 0; e < chains.size(); ++e) {
    if (!uses_enough(problem_[EinsumId(e)], chains[e])) return;
    order_loops(problem_, EinsumId(e), options_.constraints, &chains[e]);
  }
  auto mapping = mapping_of(problem_, chains);
  if (!mapping) return;
  MappedResult mapped;
  mapped.mapping = *std::move(mapping);
  ++evaluations_;
  auto cost = evaluate(problem_, mapped.mapping, options_.policy);
  if (!cost || !keep_violations(problem_, mapped.mapping).empty() ||
      !constraint_violations(options_.constraints, problem_, mapped.mapping).empty())
    return;
  mapped.cost = std::move(*cost);
  const double objective = objective_value(options_.objectives.front(), mapped.cost);
  if (!best_ || objective < objective_value(options_.objectives.front(), best_->cost))
    best_ = mapped;
  incumbent_->offer(objective, std::move(mapped));
}

std::optional<MappedResult> ChainBound::proven() const {
  const bool is_proven = best_ && surely_below(objective_value(options_.objectives.front(),
                                                               best_->cost)) <= chains_->bound();
  return is_proven ? best_ : std::nullopt;
}

}  // namespace sluice
