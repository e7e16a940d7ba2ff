#include "sluice/model/cost_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compute_bound.h"
#include "iteration_counts.h"
#include "operand_costs.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/model/concurrent_bounds.h"
#include "sluice/model/einsum_bounds.h"

namespace sluice {
namespace {

/// Whether all that the access touches passes the memory, wherever the Einsum runs. A copy moves
/// nothing where both its tensors lie in one memory.
bool must_pass(const BoundProblem& problem, EinsumId id, ComponentId memory,
               const TensorAccess& access) {
  if (problem.workload[id].is_copy_operation) return false;
  for (const BoundCompute& compute : problem[id].computes)
    if (compute.depth[memory.index()] < 0) return false;
  return hold_of(problem, id, memory, access.tensor).must;
}

/// Time and energy of the computes.
void add_compute(const BoundProblem& problem, EinsumId id, Factors factors,
                 std::optional<ComponentId> outermost, CostBounds* bounds) {
  const ComputeBound own = compute_bound(
      problem, id, factors,
      outermost ? std::optional<OperandQuestion>({factors, *outermost}) : std::nullopt);
  bounds->compute_s += own.seconds;
  bounds->operands_s += own.with_operands_s;
  bounds->energy_floor_j += own.energy_j;
}

double leak_energy(double power_w, const CostBounds& bounds) {
  return power_w == 0 ? 0 : power_w * std::max(bounds.compute_s, bounds.memory_s);
}

/// What passes the outermost memory, in calls, and what that costs.
class OuterTraffic {
 public:
  OuterTraffic(const BoundProblem& problem, ComponentId memory)
      : problem_(problem), memory_(memory), read_calls_(problem.workload.tensors.size(), 0) {}

  /// What of an Einsum's accesses comes from no other, and goes to none.
  void add(EinsumId id, const TensorAccess& access, double instances) {
    const std::size_t t = access.tensor.index();
    if (!is_compulsory(problem_.roles, access.tensor, access.is_output) ||
        !must_pass(problem_, id, memory_, access))
      return;
    const BoundComponent& memory = problem_[id].components[memory_.index()];
    const int action = access.is_output ? memory.write_action : memory.read_action;
    if (action < 0) return;
    const double bits =
        memory.bits_per_value[static_cast<std::size_t>(problem_[id].local_tensor[t])];
    const double calls =
        touched_values(problem_.workload, problem_.workload[id], access) * bits * instances /
        bits_moved_by(problem_.arch[memory_].actions[static_cast<std::size_t>(action)], bits);
    if (access.is_output) {
      writes_ += calls;
    } else {  // several Einsums may share one reading
      reads_ += std::max(0.0, calls - read_calls_[t]);
      read_calls_[t] = std::max(read_calls_[t], calls);
    }
  }

  void add_to(CostBounds& bounds) const {
    const Component& memory = problem_.arch[memory_];
    const BoundComponent& bound = problem_[EinsumId(0)].components[memory_.index()];
    const auto price = [&](int action, double calls, double& seconds) {
      if (action < 0) return;
      const Action& found = memory.actions[static_cast<std::size_t>(action)];
      bounds.energy_floor_j += calls * found.energy_j;
      seconds = least_seconds(calls, static_cast<std::size_t>(action)) / bound.instances;
    };
    double read_s = 0, write_s = 0;
    price(bound.read_action, reads_, read_s);
    price(bound.write_action, writes_, write_s);
    bool separate = false;
    for (std::size_t e = 0; e < problem_.einsums.size(); ++e)
      separate = separate || has_separate_ports(problem_, EinsumId(e), memory_);
    bounds.memory_s = separate ? std::max(read_s, write_s) : read_s + write_s;
  }

 private:
  /// Of any Einsum: `total_latency` may say something else for each.
  double least_seconds(double calls, std::size_t action) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t e = 0; e < problem_.einsums.size(); ++e)
      least = std::min(least, seconds_of(calls, problem_, EinsumId(e), memory_, action));
    return least;
  }

  const BoundProblem& problem_;
  ComponentId memory_;
  std::vector<double> read_calls_;  // per tensor: the most that one Einsum reads
  double reads_ = 0, writes_ = 0;
};

/// Nothing where there is no outermost memory, or no Einsum.
std::optional<OuterTraffic> traffic_of(const BoundProblem& problem,
                                       const std::vector<EinsumId>& einsums) {
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  if (!outermost || einsums.empty()) return std::nullopt;
  OuterTraffic traffic(problem, *outermost);
  for (const EinsumId einsum : einsums)
    for (const TensorAccess& access : problem.workload[einsum].accesses)
      traffic.add(einsum, access, instances_of(problem, einsum));
  return traffic;
}

std::vector<EinsumId> all_einsums(const BoundProblem& problem) {
  std::vector<EinsumId> all;
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e) all.emplace_back(e);
  return all;
}

}  // namespace

bool is_compulsory(const TensorRoles& roles, TensorId tensor, bool is_output) {
  return is_output ? roles.consumers[tensor.index()].empty() : !roles.is_made(tensor);
}

CostBounds outer_traffic_bounds(const BoundProblem& problem) {
  return outer_traffic_bounds(problem, all_einsums(problem));
}

CostBounds outer_traffic_bounds(const BoundProblem& problem, const std::vector<EinsumId>& einsums) {
  CostBounds bounds;
  if (const auto traffic = traffic_of(problem, einsums)) traffic->add_to(bounds);
  return bounds;
}

CostBounds cost_bounds(const BoundProblem& problem, Factors factors) {
  CostBounds bounds;
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e)
    add_compute(problem, EinsumId(e), factors, outermost, &bounds);
  const auto traffic = traffic_of(problem, all_einsums(problem));
  if (!traffic) return bounds;
  traffic->add_to(bounds);
  bounds.energy_floor_j += leak_energy(leaking_power(problem), bounds);
  return bounds;
}

CostBounds einsum_bounds(const BoundProblem& problem, EinsumId id, Factors factors) {
  CostBounds bounds;
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  add_compute(problem, id, factors, outermost, &bounds);
  if (!outermost) return bounds;
  OuterTraffic traffic(problem, *outermost);
  for (const TensorAccess& access : problem.workload[id].accesses)
    if (access.is_output || problem.roles.consumers[access.tensor.index()].size() == 1)
      traffic.add(id, access, instances_of(problem, id));
  traffic.add_to(bounds);
  bounds.energy_floor_j += leak_energy(leaking_power(problem), bounds);
  return bounds;
}

CostBounds overlap_bounds(const BoundProblem& problem, CostBounds bounds) {
  const double leak_w = leaking_power(problem), before_j = leak_energy(leak_w, bounds);
  bounds.compute_s = bounds.operands_s;
  bounds.energy_floor_j += leak_energy(leak_w, bounds) - before_j;
  return bounds;
}

namespace {

CostBounds side_by_side(const BoundProblem& problem, const CostBounds& one_by_one) {
  const std::vector<Component>& components = problem.arch.components;
  const auto n_computes =
      std::count_if(components.begin(), components.end(),
                    [](const Component& component) { return component.is_compute(); });
  if (n_computes < 2) return one_by_one;
  CostBounds bounds = one_by_one;
  bounds.compute_s /= static_cast<double>(n_computes);
  const double leak_w = leaking_power(problem);
  bounds.energy_floor_j -= leak_energy(leak_w, one_by_one) - leak_energy(leak_w, bounds);
  return bounds;
}

}  // namespace

CostBounds concurrent_bounds(const BoundProblem& problem) {
  return side_by_side(problem, problem.bounds);
}

CostBounds concurrent_bounds(const BoundProblem& problem, Factors factors) {
  return side_by_side(problem, cost_bounds(problem, factors));
}

}  // namespace sluice
