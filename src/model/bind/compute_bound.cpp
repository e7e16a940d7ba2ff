#include "compute_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fanout_use.h"
#include "iteration_counts.h"

namespace sluice {

double seconds_of(double calls, const Action& action) {
  return calls == 0 || std::isnan(action.throughput) ? 0 : calls / action.throughput;
}

double compute_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute) {
  double energy_per_point = 0;
  for (const auto& [action, calls] : compute.calls_per_point)
    energy_per_point +=
        static_cast<double>(calls) * problem.arch[compute.component].actions[action].energy_j;
  return iteration_points(problem.workload[id]) * instances_of(problem, id) * energy_per_point;
}

ComputeBound compute_bound(const BoundProblem& problem, EinsumId id, Factors factors,
                           const std::optional<OperandQuestion>& operands) {
  const Einsum& einsum = problem.workload[id];
  if (einsum.is_copy_operation || problem[id].computes.empty()) return {};
  double seconds = std::numeric_limits<double>::infinity();
  double energy_j = std::numeric_limits<double>::infinity();
  const double instances = instances_of(problem, id);
  const double points = iteration_points(einsum) * instances;
  for (const BoundCompute& compute : problem[id].computes) {
    const std::vector<double> use = largest_use_inside(problem, id, compute, factors);
    const Component& component = problem.arch[compute.component];
    double seconds_per_point = 0;
    for (const auto& [action, calls] : compute.calls_per_point)
      seconds_per_point += seconds_of(static_cast<double>(calls), component.actions[action]);
    if (component.total_latency) seconds_per_point = 0;  // not a rate
    const std::size_t top = operands && operands->inside != nullptr
                                ? static_cast<std::size_t>(compute.depth[operands->cut.index()]) + 1
                                : 0;
    const double units = problem[id].components[compute.component.index()].instances * use[top];
    seconds = std::min(seconds, points * seconds_per_point / units);
    const double operands_j = operands ? operand_energy(problem, id, compute, *operands) : 0;
    energy_j = std::min(energy_j, compute_energy(problem, id, compute) + operands_j);
  }
  return {seconds, energy_j};
}

double leaking_power(const BoundProblem& problem) {
  double power_w = 0;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
    const Component& component = problem.arch.components[c];
    if (component.power_gated || !(component.leak_power_w > 0)) continue;
    double instances = std::numeric_limits<double>::infinity();
    for (const BoundEinsum& einsum : problem.einsums)
      instances = std::min(instances, einsum.components[c].instances);
    power_w += instances * component.leak_power_w;
  }
  return power_w;
}

}  // namespace sluice
