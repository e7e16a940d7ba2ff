#include "sluice/model/relaxed_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "compute_bound.h"
#include "fanout_use.h"
#include "iteration_counts.h"
#include "operand_costs.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

/// The outermost memory, where it is one instance that every Einsum has, whatever others hold.
std::optional<ComponentId> single_outermost(const BoundProblem& problem) {
  const std::optional<ComponentId> memory = outermost_memory(problem.arch);
  if (!memory) return std::nullopt;
  for (const BoundEinsum& einsum : problem.einsums) {
    const BoundComponent& bound = einsum.components[memory->index()];
    if (!bound.enabled || bound.instances != 1 || !bound.keep.depends_on.empty() ||
        !bound.may_keep.depends_on.empty() || !bound.back.depends_on.empty())
      return std::nullopt;
  }
  return memory;
}

int depth_of(const BoundCompute& compute, ComponentId component) {
  return compute.depth[component.index()];
}

/// The share of what lies inside the cut that spatial loops can use at the same time.
double use_inside(const std::vector<double>& use, const BoundCompute& compute, ComponentId cut) {
  return use[static_cast<std::size_t>(depth_of(compute, cut)) + 1];
}

/// Whether all Einsums pass the component at the same place on all ways to their computes.
bool is_common(const BoundProblem& problem, ComponentId component, int depth) {
  return std::all_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return own.components[component.index()].enabled &&
           std::all_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
             return depth_of(compute, component) == depth;
           });
  });
}

bool is_array(const Component& component) {
  const auto* container = std::get_if<Container>(&component.kind);
  return container != nullptr && container->array;
}

/// Whether there is more inside the cut than one memory, so that a relaxed machine has less.
bool has_much_inside(const BoundProblem& problem, ComponentId cut) {
  const auto adds = [&](const BoundEinsum& own, ComponentId id) {
    const auto& spatial = own.components[id.index()].spatial;
    const bool spreads = std::any_of(spatial.begin(), spatial.end(),
                                     [](const BoundSpatial& d) { return d.fanout > 1; });
    return (problem.arch[id].is_memory() ? 1 : 0) + (spreads ? 1 : 0);
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return std::any_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
      int n = 0;
      for (auto p = static_cast<std::size_t>(depth_of(compute, cut)) + 1; p < compute.path.size();
           ++p)
        n += adds(own, compute.path[p]);
      return n > 1;
    });
  });
}

/// Calls `body` with every memory inside the cut that an Einsum can use, and the share of its
/// instances below one of the cut's that it can use at the same time.
template <class Body>
void for_each_inner_memory(const BoundProblem& problem, EinsumId id, ComponentId cut,
                           const Body& body) {
  for (const BoundCompute& compute : problem[id].computes) {
    const std::vector<double> use = largest_use_inside(problem, id, compute, Factors::kPerfect);
    for (std::size_t p = 0; p < compute.path.size(); ++p) {
      const ComponentId memory = compute.path[p];
      if (static_cast<int>(p) <= depth_of(compute, cut) || !problem.arch[memory].is_memory())
        continue;
      if (problem[id].components[memory.index()].enabled)
        body(memory, use_inside(use, compute, cut) / use[p + 1]);
    }
  }
}

/// Bits below one instance of the cut: of all memories inside, as many instances of each as some
/// Einsum can use at the same time, and of what all computes take in at once: a value of each
/// tensor.
double inner_bits(const BoundProblem& problem, ComponentId cut) {
  std::vector<double> most(problem.arch.components.size(), 0);
  double at_computes = 0;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    const BoundEinsum& einsum = problem[id];
    const BoundComponent& outside = einsum.components[cut.index()];
    for_each_inner_memory(problem, id, cut, [&](ComponentId memory, double share) {
      const BoundComponent& bound = einsum.components[memory.index()];
      const double instances = bound.instances / outside.instances * share;
      most[memory.index()] = std::max(most[memory.index()], bound.size_bits * instances);
    });
    for (const BoundCompute& compute : einsum.computes) {
      double bits = 0;
      for (const double own : outside.bits_per_value) bits += own;
      const std::vector<double> use = largest_use_inside(problem, id, compute, Factors::kPerfect);
      const double instances = einsum.components[compute.component.index()].instances /
                               outside.instances * use_inside(use, compute, cut);
      at_computes = std::max(at_computes, bits * instances);
    }
  }
  double sum = at_computes;
  for (const double own : most) sum += own;
  return sum;
}

/// A component as a relaxed machine has it: whatever it asks for beyond what it must hold, real
/// mappings need not meet there.
Component kept(Component component) {
  component.fork.reset();
  component.leak_power_w = 0;
  for (SpatialDimension& dimension : component.spatial) dimension.min_usage.reset();
  if (auto* memory = std::get_if<Memory>(&component.kind))
    memory->tensors.tensor_order_options.clear();
  return component;
}

Arch arch_of(const BoundProblem& problem, ComponentId cut) {
  Arch arch;
  arch.name = problem.arch.name;
  arch.clock_hz = problem.arch.clock_hz;
  for (const ComponentId id : kept_components(problem, cut))
    arch.components.push_back(kept(problem.arch[id]));
  Component inside;
  inside.name = problem.arch[cut].name + " inside";
  Memory memory;
  memory.size_bits = Expression::literal(std::numeric_limits<double>::infinity());
  memory.merging_reads = MergingReads::kFree;
  memory.draining_reads = DrainingReads::kFree;
  inside.kind = memory;
  for (const char* name : {"read", "write"}) inside.actions.emplace_back().name = name;
  Component compute;
  compute.name = problem.arch[cut].name + " compute";
  compute.kind = Compute{};
  compute.actions.emplace_back().name = "compute";
  arch.components.push_back(std::move(inside));
  arch.components.push_back(std::move(compute));
  const ComponentId last(arch.components.size() - 1);
  arch.components.back().leak_power_w =
      leaking_power(problem) / static_cast<double>(instances_of(arch, last));
  return arch;
}

/// The fewest bits that a memory inside the cut, or the cut itself, holds of each tensor's values.
std::vector<double> inner_widths(const BoundProblem& problem, EinsumId id, ComponentId cut) {
  const BoundEinsum& einsum = problem[id];
  std::vector<double> widths = einsum.components[cut.index()].bits_per_value;
  for_each_inner_memory(problem, id, cut, [&](ComponentId memory, double) {
    const BoundComponent& bound = einsum.components[memory.index()];
    for (std::size_t t = 0; t < widths.size(); ++t)
      widths[t] = std::min(widths[t], bound.bits_per_value[t]);
  });
  return widths;
}

/// The number, among those of the compute, of an action of one point that takes so long and so much
/// energy.
std::size_t action_of(double energy_j, double seconds, double points, Component* compute) {
  Action action = compute->actions.front();
  action.energy_j = points > 0 ? energy_j / points : 0;
  action.throughput = seconds > 0 ? points / seconds : kUnbounded;
  const auto begin = compute->actions.begin() + 1, end = compute->actions.end();
  const auto known = std::find(begin, end, action);
  if (known != end) return static_cast<std::size_t>(known - compute->actions.begin());
  compute->actions.push_back(action);
  return compute->actions.size() - 1;
}

}  // namespace

std::vector<ComponentId> relaxation_cuts(const BoundProblem& problem) {
  const auto outermost = single_outermost(problem);
  if (!outermost || problem.einsums.empty() || problem.einsums.front().computes.empty()) return {};
  std::vector<ComponentId> cuts;
  const std::vector<ComponentId>& path = problem.einsums.front().computes.front().path;
  for (std::size_t p = 0; p < path.size(); ++p) {
    const Component& component = problem.arch[path[p]];
    if (!is_common(problem, path[p], static_cast<int>(p)) || is_array(component)) break;
    if (component.is_memory() && (path[p] == *outermost || has_much_inside(problem, path[p])))
      cuts.push_back(path[p]);
  }
  return cuts;
}

std::vector<ComponentId> kept_components(const BoundProblem& problem, ComponentId cut) {
  const BoundCompute& compute = problem.einsums.front().computes.front();
  std::vector<ComponentId> result;
  for (int p = 0; p <= depth_of(compute, cut); ++p)
    if (const ComponentId id = compute.path[static_cast<std::size_t>(p)];
        !problem.arch[id].is_network())
      result.push_back(id);
  return result;
}

std::optional<BoundProblem> relaxed_machine(const BoundProblem& problem, ComponentId cut,
                                            const InnerOperands& inside) {
  const auto outermost = single_outermost(problem);
  if (!outermost) return std::nullopt;
  auto relaxed = bind(problem.workload, arch_of(problem, cut));
  if (!relaxed) return std::nullopt;
  const std::vector<ComponentId> kept = kept_components(problem, cut);
  const double bits = inner_bits(problem, cut);
  Component& compute = relaxed->arch.components.back();
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    BoundEinsum& own = relaxed->einsums[e];
    for (std::size_t c = 0; c < kept.size(); ++c) {
      const BoundComponent& real = problem[id].components[kept[c].index()];
      own.components[c].bits_per_value = real.bits_per_value;
    }
    BoundComponent& inner = own.components[kept.size()];
    inner.size_bits = bits;
    inner.bits_per_value = inner_widths(problem, id, cut);
    const OperandQuestion operands{Factors::kPerfect, *outermost, &inside[e], cut};
    const ComputeBound bound = compute_bound(problem, id, Factors::kPerfect, operands);
    if (!std::isfinite(bound.energy_j) || !std::isfinite(bound.with_operands_s))
      return std::nullopt;
    const double points = iteration_points(problem.workload[id]) * instances_of(problem, id);
    // Of one instance: those outside the cut share the points.
    const double instances = own.components.back().instances;
    for (BoundCompute& way : own.computes)
      way.calls_per_point = {
          {action_of(bound.energy_j, bound.with_operands_s * instances, points, &compute), 1}};
  }
  relaxed->bounds = cost_bounds(*relaxed);
  return std::move(*relaxed);
}

DirectEnergies direct_energies(const BoundProblem& problem, ComponentId cut) {
  DirectEnergies energies(problem.einsums.size());
  const auto outermost = single_outermost(problem);
  if (!outermost) return energies;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    OperandQuestion question{.factors = Factors::kPerfect, .outermost = *outermost, .cut = cut};
    const auto energy = [&] {
      return compute_bound(problem, EinsumId(e), Factors::kPerfect, question).energy_j;
    };
    const double of_all = energy();
    for (std::size_t t = 0; t < problem.einsums[e].tensors.size(); ++t) {
      question.direct = static_cast<int>(t);
      energies[e].push_back(energy() - of_all);
    }
  }
  return energies;
}

InnerOperands inner_operands(const DirectEnergies& energies, double energy_j) {
  InnerOperands operands(energies.size(), 0);
  for (std::size_t e = 0; e < energies.size(); ++e)
    for (std::size_t t = 0; t < energies[e].size(); ++t)
      if (energies[e][t] >= energy_j) operands[e] |= TensorMask{1} << t;
  return operands;
}

}  // namespace sluice
