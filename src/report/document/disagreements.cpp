#include "disagreements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace sluice::cli {
namespace {

struct Count {
  double model = 0, executor = 0;
  double model_bits = 0, executor_bits = 0;
};
constexpr double kRounding = 1e-9;
using CountKey = std::tuple<EinsumId, ComponentId, std::optional<TensorId>, std::string>;

std::map<CountKey, Count> counts_of(const Arch& arch, const Cost& cost, const Execution& executed) {
  std::map<CountKey, Count> counts;
  for (const EnergyRow& row : cost.energy) {
    const bool is_network = std::holds_alternative<Network>(arch[row.component].kind);
    if (!row.count || *row.count == 0 || is_network) continue;  // networks: below
    Count& count = counts[{row.einsum, row.component, row.tensor, row.action}];
    count.model += *row.count;
    count.model_bits += row.bits.value_or(0);
  }
  for (const CountRow& row : executed.counts) {
    Count& count = counts[{row.einsum, row.component, row.tensor, row.action}];
    count.executor += static_cast<double>(row.count);
    count.executor_bits += row.bits;
  }
  return counts;
}

void compare_counts(const BoundProblem& problem, const Cost& cost, const Execution& executed,
                    std::vector<std::string>& lines) {
  for (const auto& [key, count] : counts_of(problem.arch, cost, executed)) {
    const auto& [einsum, component, tensor, action] = key;
    const std::string what = fmt::format(
        "{} {}{} for the Einsum {}", problem.arch[component].name, action,
        tensor ? " of " + problem.workload[*tensor].name : "", problem.workload[einsum].name);
    if (count.model != count.executor)
      lines.push_back(fmt::format("{}: the model counts {}, the executor {}", what, count.model,
                                  count.executor));
    else if (count.model_bits != count.executor_bits)
      lines.push_back(fmt::format("{}: {} bits in the model, {} in the executor", what,
                                  count.model_bits, count.executor_bits));
  }
}

/// Whether an action of collectives and forwards is in the row: they are rounded up by themselves.
bool has_collectives(const Cost& cost, const EnergyRow& row) {
  return std::any_of(cost.collectives.begin(), cost.collectives.end(), [&](const auto& other) {
    return other.einsum == row.einsum && other.tensor == row.tensor;
  });
}

/// Actions of memories: their parts, or whole ones at each of the instances that the executor saw.
void compare_actions(const BoundProblem& problem, const Cost& cost, const Execution& executed,
                     std::vector<std::string>& lines) {
  for (const EnergyRow& row : cost.energy) {
    const Component& component = problem.arch[row.component];
    if (!component.is_memory() || !row.tensor || has_collectives(cost, row)) continue;
    const Action* action = nullptr;
    for (const Action& own : component.actions)
      if (own.name == row.action) action = &own;
    if (!action) continue;
    double expected = action->values_per_action ? *row.count / *action->values_per_action
                                                : *row.bits / action->bits_per_action;
    const Einsum& einsum = problem.workload[row.einsum];
    for (const InstanceUse& use : executed.instances) {
      if (use.einsum != row.einsum || use.component != row.component || use.tensor != *row.tensor)
        continue;
      const auto all =
          static_cast<double>(problem.workload.n_instances * einsum.n_instances * use.instances);
      expected = std::ceil(expected / all - kRounding) * all;
    }
    if (std::abs(row.actions - expected) > kRounding * expected)
      lines.push_back(
          fmt::format("{} {} of {} for the Einsum {}: {} actions in the model, {} by "
                      "the instances of the executor",
                      component.name, action->name, problem.workload[*row.tensor].name, einsum.name,
                      row.actions, expected));
  }
}

/// Where tiles are uneven, the model gives upper bounds (docs/model.md, "Networks").
struct NetworkLoad {
  double bits = 0, bit_hops = 0, latency_hops = 0;
  bool is_even = true;
};

void compare_networks(const BoundProblem& problem, const Cost& cost, const Execution& executed,
                      std::vector<std::string>& lines) {
  std::map<std::tuple<EinsumId, ComponentId, TensorId, bool>, std::pair<NetworkLoad, NetworkLoad>>
      loads;
  const auto add = [](NetworkLoad& load, const auto& row) {
    load.bits += row.volume_bits;
    load.bit_hops += row.bit_hops;
    load.latency_hops += row.latency_hops;
  };
  for (const NetworkRow& row : cost.networks)
    add(loads[{row.einsum, row.component, row.tensor, row.implicit}].first, row);
  for (const NetworkCount& row : executed.networks) {
    NetworkLoad& load = loads[{row.einsum, row.component, row.tensor, row.implicit}].second;
    add(load, row);
    load.is_even = load.is_even && row.is_even;
  }
  for (const auto& [key, load] : loads) {
    const auto& [einsum, component, tensor, implicit] = key;
    const auto compare = [&](const char* what, double model, double executor) {
      if (load.second.is_even ? model != executor : model < executor)
        lines.push_back(
            fmt::format("{} of {} over {} for the Einsum {}: {} in the model, {} in the "
                        "executor",
                        what, problem.workload[tensor].name, problem.arch[component].name,
                        problem.workload[einsum].name, model, executor));
    };
    compare("bits", load.first.bits, load.second.bits);
    compare("bit hops", load.first.bit_hops, load.second.bit_hops);
    compare("latency hops", load.first.latency_hops, load.second.latency_hops);
  }
}

void compare_occupancy(const BoundProblem& problem, const Cost& cost, const Execution& executed,
                       std::vector<std::string>& lines) {
  std::map<ComponentId, std::pair<double, double>> peaks;
  bool is_even = true;
  for (const OccupancyRow& row : cost.occupancy) peaks[row.component].first = row.peak_bits;
  for (const PeakOccupancy& row : executed.occupancy) {
    peaks[row.component].second = row.peak_bits;
    is_even = is_even && row.is_even;
  }
  for (const auto& [memory, peak] : peaks)
    if (is_even ? peak.first != peak.second : peak.first < peak.second)
      lines.push_back(fmt::format("peak of {}: {} bits in the model, {} in the executor",
                                  problem.arch[memory].name, peak.first, peak.second));
}

/// Every component leaks in every Einsum, but gated ones only where the Einsum has something to do
/// with them.
void compare_leakage(const BoundProblem& problem, const Cost& cost, const Execution& executed,
                     std::vector<std::string>& lines) {
  std::set<ComponentUse> leaking;
  std::set<EinsumId> lasting;  // an Einsum that takes no time leaks nothing
  for (const LatencyRow& row : cost.latency)
    if (row.latency_s > 0) lasting.insert(row.einsum);
  for (const EnergyRow& row : cost.energy)
    if (row.action == "leak" && row.actions > 0) leaking.insert({row.einsum, row.component});
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e)
    for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
      const Component& component = problem.arch.components[c];
      const ComponentUse use{EinsumId(e), ComponentId(c)};
      if (component.leak_power_w == 0 || lasting.count(use.einsum) == 0) continue;
      const bool should = !component.power_gated ||
                          std::binary_search(executed.uses.begin(), executed.uses.end(), use);
      if (should != (leaking.count(use) > 0))
        lines.push_back(fmt::format(
            "leakage of {} in the Einsum {}: the model says {}, the executor {}", component.name,
            problem.workload.einsums[e].name, should ? "no" : "yes", should ? "yes" : "no"));
    }
}

}  // namespace

bool is_unpriced(const std::vector<Violation>& violations) {
  return std::all_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.kind == ViolationKind::kUnsupportedNode;
  });
}

std::vector<std::string> disagreements(const BoundProblem& problem, const Evaluation& model,
                                       const Execution& executed) {
  std::vector<std::string> lines;
  if (!model && !executed.is_legal()) return lines;
  if (!model && is_unpriced(model.error())) return lines;
  if (executed.is_unsupported()) return lines;
  if (!model) {
    for (const Violation& violation : model.error())
      lines.push_back("only the model calls it illegal: " + violation.message);
    return lines;
  }
  if (!executed.is_legal()) {
    for (const Complaint& complaint : executed.complaints)
      lines.push_back("only the executor calls it illegal: " + complaint.message);
    return lines;
  }
  compare_counts(problem, *model, executed, lines);
  compare_actions(problem, *model, executed, lines);
  compare_networks(problem, *model, executed, lines);
  compare_occupancy(problem, *model, executed, lines);
  compare_leakage(problem, *model, executed, lines);
  if (model->padding_values != static_cast<double>(executed.padding_values))
    lines.push_back(fmt::format("padding values: the model counts {}, the executor {}",
                                model->padding_values, executed.padding_values));
  if (model->unpriced_merge_values != static_cast<double>(executed.merge_values))
    lines.push_back(fmt::format("merging reads: the model counts {}, the executor {}",
                                model->unpriced_merge_values, executed.merge_values));
  return lines;
}

}  // namespace sluice::cli
