#include "sluice/model/efficiency.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

double counted_operations(const Einsum& einsum) {
  double operations = 0;
  for (const OperationCount& count : operations_per_point(einsum.expression)) {
    const double weight = count.kind == OperationKind::kMulAdd ? 2 : 1;
    if (count.kind != OperationKind::kCopy)
      operations += weight * static_cast<double>(count.per_point);
  }
  return operations;
}

std::optional<double> positive(double value) {
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// Actions that take time: parts of whole ones, too, as much as they are.
double parts_of(const EnergyRow& row, const Action& action) {
  if (!row.bits) return row.actions;
  return action.values_per_action ? *row.count / *action.values_per_action
                                  : *row.bits / action.bits_per_action;
}

/// Seconds that all instances together would take one after the other, at their peak rates; none
/// where there is no peak.
std::optional<double> work_seconds(const BoundProblem& problem, const Cost& cost, ComponentId id) {
  const Component& component = problem.arch[id];
  if (component.total_latency) return std::nullopt;
  const Memory* memory = std::get_if<Memory>(&component.kind);
  const bool separate = memory != nullptr && memory->ports == Ports::kSeparate;
  std::map<std::string, double> by_port;
  bool has_rate = false;
  for (const Action& action : component.actions)
    has_rate = has_rate || (std::isfinite(action.throughput) && action.throughput > 0);
  for (const EnergyRow& row : cost.energy) {
    if (row.component != id) continue;
    const auto action = std::find_if(component.actions.begin(), component.actions.end(),
                                     [&](const Action& a) { return a.name == row.action; });
    if (action == component.actions.end() || row.actions == 0) continue;  // leakage
    if (std::isnan(action->throughput)) return std::nullopt;
    const double instances = problem[row.einsum].components[id.index()].instances;
    by_port[separate ? row.action : ""] += parts_of(row, *action) / action->throughput / instances;
  }
  if (!has_rate) return std::nullopt;
  double seconds = 0;
  for (const auto& [port, port_s] : by_port) seconds = std::max(seconds, port_s);
  return seconds;
}

std::optional<double> busy_share(const Cost& cost, ComponentId id) {
  double busy_s = 0;
  for (const LatencyRow& row : cost.latency)
    if (row.component == id) busy_s += row.latency_s;
  constexpr double kRounding = 1e-9;
  const double share = busy_s / cost.latency_s;
  if (!std::isfinite(share) || share > 1 + kRounding) return std::nullopt;
  return std::min(share, 1.0);
}

std::vector<Utilisation> utilisation_of(const BoundProblem& problem, const Cost& cost) {
  std::vector<Utilisation> result;
  if (!positive(cost.latency_s)) return result;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
    const ComponentId id(c);
    if (!problem.arch[id].is_memory() && !problem.arch[id].is_compute()) continue;
    const auto work_s = work_seconds(problem, cost, id);
    result.push_back({id, work_s ? std::optional(*work_s / cost.latency_s) : std::nullopt,
                      busy_share(cost, id)});
  }
  return result;
}

double moved_bits(const Cost& cost, ComponentId memory) {
  double bits = 0;
  for (const EnergyRow& row : cost.energy)
    if (row.component == memory) bits += row.bits.value_or(0);
  return bits;
}

std::optional<Roofline> roofline_of(const BoundProblem& problem, const Cost& cost,
                                    double operations) {
  const auto memory = outermost_memory(problem.arch);
  if (!memory) return std::nullopt;
  const auto memory_s = work_seconds(problem, cost, *memory);
  const double bits = moved_bits(cost, *memory), compute_s = cost.bounds.compute_s;
  if (!memory_s || !positive(*memory_s) || !positive(compute_s) || !positive(bits) ||
      !positive(cost.latency_s) || operations == 0)
    return std::nullopt;
  return Roofline{*memory, operations / bits, (operations / compute_s) / (bits / *memory_s),
                  operations / cost.latency_s, operations / std::max(compute_s, *memory_s)};
}

}  // namespace

double operations_of(const Workload& workload, EinsumId id) {
  const Einsum& einsum = workload[id];
  if (einsum.is_copy_operation) return 0;
  double points =
      static_cast<double>(workload.n_instances) * static_cast<double>(einsum.n_instances);
  for (const VariableRange& range : einsum.iteration_space)
    points *= static_cast<double>(range.size);
  return points * counted_operations(einsum);
}

double operations_of(const Workload& workload) {
  double operations = 0;
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    operations += operations_of(workload, EinsumId(e));
  return operations;
}

Efficiency efficiency(const BoundProblem& problem, const Cost& cost) {
  Efficiency result;
  result.operations = operations_of(problem.workload);
  if (positive(cost.latency_s) && result.operations > 0)
    result.operations_per_s = positive(result.operations / cost.latency_s);
  if (positive(cost.energy_j) && result.operations > 0)
    result.operations_per_j = positive(result.operations / cost.energy_j);
  if (positive(cost.latency_s)) result.power_w = positive(cost.energy_j / cost.latency_s);
  result.utilisation = utilisation_of(problem, cost);
  result.roofline = roofline_of(problem, cost, result.operations);
  return result;
}

}  // namespace sluice
