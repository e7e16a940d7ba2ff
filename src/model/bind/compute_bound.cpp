#include "compute_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fanout_use.h"
#include "fill_energy.h"
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

double seconds_per_point(const BoundProblem& problem, const BoundCompute& compute) {
  const Component& component = problem.arch[compute.component];
  if (component.total_latency) return 0;  // not a rate
  double seconds = 0;
  for (const auto& [action, calls] : compute.calls_per_point)
    seconds += seconds_of(static_cast<double>(calls), component.actions[action]);
  return seconds;
}

ComputeBound compute_bound(const BoundProblem& problem, EinsumId id, Factors factors,
                           const std::optional<OperandQuestion>& operands) {
  const Einsum& einsum = problem.workload[id];
  if (einsum.is_copy_operation || problem[id].computes.empty()) return {};
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  ComputeBound bound{kInfinite, kInfinite, kInfinite};
  const double points = iteration_points(einsum) * instances_of(problem, id);
  for (const BoundCompute& compute : problem[id].computes) {
    const double units = problem[id].components[compute.component.index()].instances *
                         largest_use_inside(problem, id, compute, factors).front();
    const double seconds = points * seconds_per_point(problem, compute) / units;
    const OperandCosts costs = operands ? operand_costs(problem, id, compute, *operands)
                                        : OperandCosts{.seconds = seconds};
    bound.seconds = std::min(bound.seconds, seconds);
    bound.with_operands_s = std::min(bound.with_operands_s, costs.seconds);
    const bool knows_fills = operands && factors == Factors::kPerfect;
    const double operands_j =
        knows_fills ? filled_operand_energy(problem, id, compute, *operands, costs.energy_j)
                    : costs.energy_j;
    bound.energy_j = std::min(bound.energy_j, compute_energy(problem, id, compute) + operands_j);
  }
  return bound;
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
