#include "compute_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fanout_use.h"
#include "fill_energy.h"
#include "iteration_counts.h"

namespace sluice {

namespace {

/// The sums of calls, each with a factor, of which `total_latency` is the largest; those that may
/// shrink are left out.
std::vector<std::vector<double>> busy_sums(const BoundComponent& bound) {
  std::vector<std::vector<double>> sums;
  if (!bound.latency_rows) return sums;
  for (const std::vector<double>& row : *bound.latency_rows)
    if (std::all_of(row.begin(), row.end(), [](double factor) { return factor >= 0; }))
      sums.push_back(row);
  return sums;
}

}  // namespace

double seconds_of(double calls, const BoundProblem& problem, EinsumId id, ComponentId component,
                  std::size_t action) {
  if (calls == 0) return 0;  // of an action that takes for ever, too
  const Component& own = problem.arch[component];
  if (!own.total_latency) {
    const double throughput = own.actions[action].throughput;
    return std::isnan(throughput) ? 0 : calls / throughput;
  }
  double seconds = 0;
  for (const std::vector<double>& sum : busy_sums(problem[id].components[component.index()]))
    seconds = std::max(seconds, calls * sum[action]);
  return seconds;
}

bool has_separate_ports(const BoundProblem& problem, EinsumId id, ComponentId memory) {
  const Component& own = problem.arch[memory];
  if (own.total_latency) return busy_sums(problem[id].components[memory.index()]).size() != 1;
  return std::get<Memory>(own.kind).ports == Ports::kSeparate;
}

double compute_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute) {
  double energy_per_point = 0;
  for (const auto& [action, calls] : compute.calls_per_point)
    energy_per_point +=
        static_cast<double>(calls) * problem.arch[compute.component].actions[action].energy_j;
  return iteration_points(problem.workload[id]) * instances_of(problem, id) * energy_per_point;
}

double seconds_per_point(const BoundProblem& problem, EinsumId id, const BoundCompute& compute) {
  const Component& component = problem.arch[compute.component];
  double seconds = 0;
  if (!component.total_latency) {
    for (const auto& [action, calls] : compute.calls_per_point)
      seconds += seconds_of(static_cast<double>(calls), problem, id, compute.component, action);
    return seconds;
  }
  for (const auto& sum : busy_sums(problem[id].components[compute.component.index()])) {
    double own = 0;
    for (const auto& [action, calls] : compute.calls_per_point)
      own += static_cast<double>(calls) * sum[action];
    seconds = std::max(seconds, own);
  }
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
    const double seconds = points * seconds_per_point(problem, id, compute) / units;
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
