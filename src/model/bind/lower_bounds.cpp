#include "sluice/model/cost_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fanout_use.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/model/einsum_bounds.h"

namespace sluice {
namespace {

double iteration_points(const Einsum& einsum) {
  double points = 1;
  for (const VariableRange& range : einsum.iteration_space)
    points *= static_cast<double>(range.size);
  return points;
}

/// Distinct values of one index, at least; exactly as many where the steps of each term fit into
/// those of smaller ones without a gap, or leave them all apart.
double index_values(const Einsum& einsum, const AffineExpression& index) {
  std::vector<std::pair<std::int64_t, std::int64_t>> terms;  // step, number of steps
  for (const AffineTerm& term : index.terms)
    terms.emplace_back(std::abs(term.coefficient), variable_size(einsum, term.variable));
  std::sort(terms.begin(), terms.end());
  double values = 1, reach = 0;
  for (const auto& [step, size] : terms) {
    const auto width = static_cast<double>(step), steps = static_cast<double>(size - 1);
    const bool dense = values == reach + 1;
    if (width > reach)
      values *= steps + 1;
    else
      values += dense ? width * steps : steps;  // |A + B| >= |A| + |B| - 1
    reach += width * steps;
  }
  return values;
}

/// Distinct values that an access touches, at least: of an input with its padding, which is moved
/// like values. Of ranks that share a variable only one tells values apart: the longest.
double touched_values(const Workload& workload, const Einsum& einsum, const TensorAccess& access) {
  std::vector<std::pair<double, std::size_t>> ranks;
  for (std::size_t r = 0; r < access.projection.size(); ++r) {
    const auto size = static_cast<double>(workload[workload[access.tensor].ranks[r]].size);
    const double touched = index_values(einsum, access.projection[r]);
    ranks.emplace_back(access.is_output ? std::min(touched, size) : touched, r);
  }
  std::sort(ranks.rbegin(), ranks.rend());
  double values = 1;
  std::vector<RankVariableId> used;
  for (const auto& [rank_values, r] : ranks) {
    const std::vector<AffineTerm>& terms = access.projection[r].terms;
    const bool shared = std::any_of(terms.begin(), terms.end(), [&](const AffineTerm& term) {
      return std::find(used.begin(), used.end(), term.variable) != used.end();
    });
    if (shared) continue;
    for (const AffineTerm& term : terms) used.push_back(term.variable);
    values *= rank_values;
  }
  return values;
}

double instances_of(const BoundProblem& problem, EinsumId id) {
  return static_cast<double>(problem.workload[id].n_instances) *
         static_cast<double>(problem.workload.n_instances);
}

/// At least: nothing where the time of the action is not known.
double seconds_of(double calls, const Action& action) {
  return calls == 0 || std::isnan(action.throughput) ? 0 : calls / action.throughput;
}

/// Whether the memory must (may) hold a tensor for an Einsum, whatever inner memories hold.
struct Hold {
  bool must = false, may = true;
};

Hold hold_of(const BoundProblem& problem, EinsumId einsum, ComponentId memory, TensorId tensor) {
  const auto sets = keep_sets(problem, einsum, memory,
                              std::vector<TensorMask>(problem.arch.components.size(), 0));
  const KeepRule& rule = problem[einsum].components[memory.index()].keep;
  if (!sets || !rule.depends_on.empty()) return {};
  const int local = problem[einsum].local_tensor[tensor.index()];
  return {(sets->must >> local & 1) != 0, ((sets->must | sets->may) >> local & 1) != 0};
}

/// One way in which an Einsum touches a tensor: so many values for so many points, at least.
struct Operand {
  const BoundAccess& access;
  double points = 0, values = 0;
};

/// What the compute takes from, or hands to, the innermost memory of a tensor: a value for each
/// point, or for all points that one instance of the memory can serve at the same time. Of memories
/// that may be that one, the cheapest. At the outermost one the first `values` are left out: they
/// are its compulsory traffic.
double operand_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                      const std::vector<double>& use, const Operand& operand,
                      ComponentId outermost) {
  const BoundEinsum& einsum = problem[id];
  const auto local = static_cast<std::size_t>(operand.access.tensor);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t p = compute.path.size(); p-- > 0;) {
    const ComponentId memory = compute.path[p];
    if (!problem.arch[memory].is_memory()) continue;
    const Hold hold = hold_of(problem, id, memory, einsum.tensors[local]);
    if (!hold.may) continue;
    const BoundComponent& bound = einsum.components[memory.index()];
    const int action = operand.access.is_output ? bound.write_action : bound.read_action;
    double energy_j = 0;
    if (action >= 0) {
      const Action& found = problem.arch[memory].actions[static_cast<std::size_t>(action)];
      const double bits = bound.bits_per_value[local];
      const double served = std::max(1.0, einsum.components[compute.component.index()].instances /
                                              bound.instances * use[p + 1]);
      const double values =
          std::max(0.0, operand.points / served - (memory == outermost ? operand.values : 0));
      energy_j = values * bits / bits_moved_by(found, bits) * found.energy_j;
    }
    least = std::min(least, energy_j);
    if (hold.must) break;  // or a memory further in is
  }
  return std::isfinite(least) ? least : 0;
}

/// Of tensors that the Einsum touches in one way, within their ranks.
double operands_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                       const std::vector<double>& use, double instances, ComponentId outermost) {
  const Einsum& einsum = problem.workload[id];
  const double points = iteration_points(einsum) * instances;
  double energy_j = 0;
  for (const BoundAccess& access : problem[id].accesses) {
    const TensorId tensor = problem[id].tensors[static_cast<std::size_t>(access.tensor)];
    const auto touches = [&](const TensorAccess& other) { return other.tensor == tensor; };
    const auto& accesses = einsum.accesses;
    const auto own = std::find_if(accesses.begin(), accesses.end(), touches);
    if (access.leaves_ranks || std::count_if(own, accesses.end(), touches) != 1) continue;
    const double values = touched_values(problem.workload, einsum, *own) * instances;
    energy_j += operand_energy(problem, id, compute, use, {access, points, values}, outermost);
  }
  return energy_j;
}

/// Time and energy of one Einsum on the compute that is best at each.
void add_compute_bound(const BoundProblem& problem, EinsumId id, Factors factors,
                       std::optional<ComponentId> outermost, CostBounds& bounds) {
  const Einsum& einsum = problem.workload[id];
  if (einsum.is_copy_operation) return;
  double seconds = std::numeric_limits<double>::infinity();
  double energy_j = std::numeric_limits<double>::infinity();
  const double instances = instances_of(problem, id);
  const double points = iteration_points(einsum) * instances;
  for (const BoundCompute& compute : problem[id].computes) {
    const std::vector<double> use = largest_use_inside(problem, id, compute, factors);
    const Component& component = problem.arch[compute.component];
    double seconds_per_point = 0, energy_per_point = 0;
    for (const auto& [action, calls] : compute.calls_per_point) {
      const double n = static_cast<double>(calls);
      seconds_per_point += seconds_of(n, component.actions[action]);
      energy_per_point += n * component.actions[action].energy_j;
    }
    if (component.total_latency) seconds_per_point = 0;  // not a rate
    const double units = problem[id].components[compute.component.index()].instances * use.front();
    seconds = std::min(seconds, points * seconds_per_point / units);
    const double operands_j =
        outermost ? operands_energy(problem, id, compute, use, instances, *outermost) : 0;
    energy_j = std::min(energy_j, points * energy_per_point + operands_j);
  }
  if (problem[id].computes.empty()) return;
  bounds.compute_s += seconds;
  bounds.energy_floor_j += energy_j;
}

/// Whether all that the access touches passes the memory, wherever the Einsum runs. A copy moves
/// nothing where both its tensors lie in one memory.
bool must_pass(const BoundProblem& problem, EinsumId id, ComponentId memory,
               const TensorAccess& access) {
  if (problem.workload[id].is_copy_operation) return false;
  for (const BoundCompute& compute : problem[id].computes)
    if (compute.depth[memory.index()] < 0) return false;
  return hold_of(problem, id, memory, access.tensor).must;
}

/// Of all components that are not power-gated.
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
    const bool produced = problem_.roles.is_made(access.tensor);
    const bool compulsory = access.is_output ? problem_.roles.consumers[t].empty() : !produced;
    if (!compulsory || !must_pass(problem_, id, memory_, access)) return;
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
      seconds = seconds_of(calls, found) / bound.instances;
    };
    double read_s = 0, write_s = 0;
    price(bound.read_action, reads_, read_s);
    price(bound.write_action, writes_, write_s);
    if (memory.total_latency) return;  // its time is not a sum of rates
    const bool separate = std::get<Memory>(memory.kind).ports == Ports::kSeparate;
    bounds.memory_s = separate ? std::max(read_s, write_s) : read_s + write_s;
  }

 private:
  const BoundProblem& problem_;
  ComponentId memory_;
  std::vector<double> read_calls_;  // per tensor: the most that one Einsum reads
  double reads_ = 0, writes_ = 0;
};

}  // namespace

CostBounds cost_bounds(const BoundProblem& problem, Factors factors) {
  CostBounds bounds;
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  std::optional<OuterTraffic> traffic;
  if (outermost) traffic.emplace(problem, *outermost);
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e) {
    const EinsumId id(e);
    add_compute_bound(problem, id, factors, outermost, bounds);
    if (!traffic) continue;
    for (const TensorAccess& access : problem.workload[id].accesses)
      traffic->add(id, access, instances_of(problem, id));
  }
  if (!traffic || problem.workload.einsums.empty()) return bounds;
  traffic->add_to(bounds);
  bounds.energy_floor_j += leak_energy(leaking_power(problem), bounds);
  return bounds;
}

CostBounds einsum_bounds(const BoundProblem& problem, EinsumId id, Factors factors) {
  CostBounds bounds;
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  add_compute_bound(problem, id, factors, outermost, bounds);
  if (!outermost) return bounds;
  OuterTraffic traffic(problem, *outermost);
  for (const TensorAccess& access : problem.workload[id].accesses)
    if (access.is_output || problem.roles.consumers[access.tensor.index()].size() == 1)
      traffic.add(id, access, instances_of(problem, id));
  traffic.add_to(bounds);
  bounds.energy_floor_j += leak_energy(leaking_power(problem), bounds);
  return bounds;
}

CostBounds concurrent_bounds(const BoundProblem& problem) {
  const std::vector<Component>& components = problem.arch.components;
  const auto n_computes =
      std::count_if(components.begin(), components.end(),
                    [](const Component& component) { return component.is_compute(); });
  CostBounds bounds = problem.bounds;
  if (n_computes < 2) return bounds;
  bounds.compute_s /= static_cast<double>(n_computes);
  const double leak_w = leaking_power(problem);
  bounds.energy_floor_j -= leak_energy(leak_w, problem.bounds) - leak_energy(leak_w, bounds);
  return bounds;
}

}  // namespace sluice
