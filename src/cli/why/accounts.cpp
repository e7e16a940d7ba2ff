#include "accounts.h"

#include <algorithm>
#include <cmath>

#include "mapper/common/contains.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/request/constraint_check.h"
#include "mapper/request/einsum_walk.h"
#include "report/text/cost_shares.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::cli {
namespace {

std::vector<BusyComponent> busy_components(const Cost& cost, EinsumId einsum) {
  std::vector<BusyComponent> busy;
  for (const LatencyRow& row : cost.latency)
    if (row.einsum == einsum && row.latency_s > 0) busy.push_back({row.component, row.latency_s});
  std::stable_sort(busy.begin(), busy.end(), [](const BusyComponent& a, const BusyComponent& b) {
    return a.latency_s > b.latency_s;
  });
  return busy;
}

/// The time that its operations take where all instances are busy, of the time that they have.
std::optional<double> compute_use(const BoundProblem& problem, EinsumId einsum, double seconds) {
  const auto alone = bind_part(problem, {einsum});
  const double least = alone ? alone->bounds.compute_s : 0;
  if (!(least > 0) || !(seconds > 0)) return std::nullopt;
  return least / seconds;
}

bool add_up(const std::vector<EinsumShare>& shares, const Cost& cost) {
  constexpr double kRounding = 1e-9;
  double seconds = 0;
  for (const EinsumShare& share : shares) seconds += share.total_s();
  return cost.breakdown.empty() && std::abs(seconds - cost.latency_s) <= kRounding * seconds;
}

const StorageNode* outermost_node(const BoundProblem& problem, const NodeList& nodes,
                                  TensorId tensor) {
  for (const Node& node : nodes) {
    if (const auto* storage = std::get_if<StorageNode>(&node.kind))
      if (contains(storage->tensors, tensor) && problem.arch[storage->component].is_memory())
        return storage;
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children)
        if (const StorageNode* found = outermost_node(problem, child, tensor)) return found;
  }
  return nullptr;
}

bool keeps(const BoundProblem& problem, const Mapping& mapping, TensorId tensor, bool on_chip) {
  Constraints constraints;
  constraints.fusion = {{"", tensor, on_chip, std::nullopt}};
  return constraint_violations(constraints, problem, mapping).empty();
}

/// Per component, what it holds for an Einsum.
std::vector<TensorMask> held_tensors(const BoundProblem& problem, const EinsumWalk& walk) {
  std::vector<TensorMask> held(problem.arch.components.size(), 0);
  const LocalIndices& local = problem[walk.einsum].local_tensor;
  for (const WalkedStep& step : walk.steps)
    if (step.storage)
      for (const TensorId tensor : step.storage->tensors)
        held[step.storage->component.index()] |= TensorMask{1} << local[tensor.index()];
  return held;
}

}  // namespace

std::vector<EinsumAccount> einsum_accounts(const BoundProblem& problem, const Cost& cost,
                                           Objective objective) {
  const std::vector<EinsumShare> shares = cost_by_einsum(cost);
  const bool adds_up = add_up(shares, cost);
  std::vector<EinsumAccount> accounts;
  for (const EinsumShare& share : shares) {
    EinsumAccount account;
    account.einsum = share.einsum;
    account.energy_j = share.energy_j;
    account.latency_s = share.latency_s;
    account.collectives_s = share.collectives_s;
    if (adds_up)
      account.objective_part = objective_value(objective, cost) -
                               objective_value(objective, cost.energy_j - share.energy_j,
                                               cost.latency_s - share.total_s());
    account.busy = busy_components(cost, share.einsum);
    account.compute_use = compute_use(problem, share.einsum, share.total_s());
    accounts.push_back(std::move(account));
  }
  return accounts;
}

std::vector<ExchangeChoice> exchange_choices(const BoundProblem& problem, const Mapping& mapping) {
  std::vector<ExchangeChoice> choices;
  for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t) {
    const TensorId tensor(t);
    if (!problem.roles.is_intermediate(tensor) || !problem.roles.is_shared(tensor)) continue;
    const bool on_chip = keeps(problem, mapping, tensor, true);
    if (!on_chip && !keeps(problem, mapping, tensor, false)) continue;
    ExchangeChoice choice;
    choice.tensor = tensor;
    choice.producer = problem.roles.makers[t].front();
    choice.on_chip = on_chip;
    if (const StorageNode* node = outermost_node(problem, mapping.nodes, tensor))
      choice.memory = node->component;
    choices.push_back(std::move(choice));
  }
  std::stable_sort(
      choices.begin(), choices.end(),
      [](const ExchangeChoice& a, const ExchangeChoice& b) { return a.producer < b.producer; });
  return choices;
}

std::vector<HoldingChoice> holding_choices(const BoundProblem& problem, const Mapping& mapping) {
  std::vector<HoldingChoice> choices;
  if (problem.einsums.size() != 1) return choices;
  const EinsumId einsum(0);
  const std::vector<TensorMask> held =
      held_tensors(problem, walks_of(problem.workload, mapping).front());
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
    const ComponentId memory(c);
    if (!problem.arch[memory].is_memory() || !problem[einsum].components[c].enabled) continue;
    const auto sets = keep_sets(problem, einsum, memory, held);
    for (std::size_t t = 0; sets && t < problem[einsum].tensors.size(); ++t)
      if ((sets->may >> t & 1) != 0)
        choices.push_back({problem[einsum].tensors[t], memory, (held[c] >> t & 1) != 0, {}});
  }
  return choices;
}

StorageConstraint other_choice(const HoldingChoice& choice) {
  StorageConstraint constraint{"the other choice", EinsumId(0), choice.memory, {}, {}};
  (choice.is_held ? constraint.forbid : constraint.keep) = {choice.tensor};
  return constraint;
}

FusionConstraint other_choice(const ExchangeChoice& choice) {
  return {"the other choice", choice.tensor, !choice.on_chip, std::nullopt};
}

}  // namespace sluice::cli
