#include "sluice/model/relaxed_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "compute_bound.h"
#include "fanout_use.h"
#include "iteration_counts.h"
#include "operand_energy.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

constexpr ComponentId kOutside(0), kInside(1), kCompute(2);

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

/// Calls `body` with every memory inside the outermost one that an Einsum can use, and the share of
/// its instances that it can use at the same time.
template <class Body>
void for_each_inner_memory(const BoundProblem& problem, EinsumId id, ComponentId outermost,
                           const Body& body) {
  for (const BoundCompute& compute : problem[id].computes) {
    const std::vector<double> use = largest_use_inside(problem, id, compute, Factors::kPerfect);
    for (std::size_t p = 0; p < compute.path.size(); ++p) {
      const ComponentId memory = compute.path[p];
      if (memory == outermost || !problem.arch[memory].is_memory()) continue;
      if (problem[id].components[memory.index()].enabled) body(memory, use.front() / use[p + 1]);
    }
  }
}

/// Bits of all memories inside, as many instances of each as some Einsum can use at the same time,
/// and of what all computes take in at once: a value of each tensor.
double inner_bits(const BoundProblem& problem, ComponentId outermost) {
  std::vector<double> most(problem.arch.components.size(), 0);
  double at_computes = 0;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    const BoundEinsum& einsum = problem[id];
    for_each_inner_memory(problem, id, outermost, [&](ComponentId memory, double share) {
      const BoundComponent& bound = einsum.components[memory.index()];
      most[memory.index()] =
          std::max(most[memory.index()], bound.size_bits * bound.instances * share);
    });
    for (const BoundCompute& compute : einsum.computes) {
      double bits = 0;
      for (const double own : einsum.components[outermost.index()].bits_per_value) bits += own;
      at_computes = std::max(
          at_computes, bits * einsum.components[compute.component.index()].instances *
                           largest_use_inside(problem, id, compute, Factors::kPerfect).front());
    }
  }
  double sum = at_computes;
  for (const double own : most) sum += own;
  return sum;
}

Arch arch_of(const BoundProblem& problem, ComponentId outermost) {
  Arch arch;
  arch.name = problem.arch.name;
  arch.clock_hz = problem.arch.clock_hz;
  Component outside = problem.arch[outermost];
  outside.spatial.clear();
  outside.fork.reset();
  outside.leak_power_w = 0;
  std::get<Memory>(outside.kind).tensors.tensor_order_options.clear();
  Component inside;
  inside.name = outside.name + " inside";
  Memory memory;
  memory.size_bits = Expression::literal(std::numeric_limits<double>::infinity());
  memory.merging_reads = MergingReads::kFree;
  memory.draining_reads = DrainingReads::kFree;
  inside.kind = memory;
  for (const char* name : {"read", "write"}) inside.actions.emplace_back().name = name;
  Component compute;
  compute.name = outside.name + " compute";
  compute.kind = Compute{};
  compute.actions.emplace_back().name = "compute";
  compute.leak_power_w = leaking_power(problem);
  arch.components = {std::move(outside), std::move(inside), std::move(compute)};
  return arch;
}

/// The fewest bits that a memory inside holds of each tensor's values.
std::vector<double> inner_widths(const BoundProblem& problem, EinsumId id, ComponentId outermost) {
  const BoundEinsum& einsum = problem[id];
  std::vector<double> widths = einsum.components[outermost.index()].bits_per_value;
  for_each_inner_memory(problem, id, outermost, [&](ComponentId memory, double) {
    const BoundComponent& bound = einsum.components[memory.index()];
    for (std::size_t t = 0; t < widths.size(); ++t)
      widths[t] = std::min(widths[t], bound.bits_per_value[t]);
  });
  return widths;
}

/// The number, among those of the compute, of an action of one point that takes so long and so much
/// energy.
std::size_t action_of(const ComputeBound& bound, double points, Component* compute) {
  Action action = compute->actions.front();
  action.energy_j = points > 0 ? bound.energy_j / points : 0;
  action.throughput = bound.seconds > 0 ? points / bound.seconds : kUnbounded;
  const auto begin = compute->actions.begin() + 1, end = compute->actions.end();
  const auto known = std::find(begin, end, action);
  if (known != end) return static_cast<std::size_t>(known - compute->actions.begin());
  compute->actions.push_back(action);
  return compute->actions.size() - 1;
}

}  // namespace

std::optional<BoundProblem> relaxed_machine(const BoundProblem& problem,
                                            const InnerOperands& inside) {
  const auto outermost = single_outermost(problem);
  if (!outermost) return std::nullopt;
  auto relaxed = bind(problem.workload, arch_of(problem, *outermost));
  if (!relaxed) return std::nullopt;
  const double bits = inner_bits(problem, *outermost);
  Component& compute = relaxed->arch.components[kCompute.index()];
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    BoundEinsum& own = relaxed->einsums[e];
    const BoundComponent& outside = problem[id].components[outermost->index()];
    own.components[kOutside.index()].bits_per_value = outside.bits_per_value;
    own.components[kInside.index()].size_bits = bits;
    own.components[kInside.index()].bits_per_value = inner_widths(problem, id, *outermost);
    const OperandQuestion operands{Factors::kPerfect, *outermost, &inside[e]};
    const ComputeBound bound = compute_bound(problem, id, Factors::kPerfect, operands);
    if (!std::isfinite(bound.energy_j) || !std::isfinite(bound.seconds)) return std::nullopt;
    const double points = iteration_points(problem.workload[id]) * instances_of(problem, id);
    for (BoundCompute& way : own.computes)
      way.calls_per_point = {{action_of(bound, points, &compute), 1}};
  }
  relaxed->bounds = cost_bounds(*relaxed);
  return std::move(*relaxed);
}

DirectEnergies direct_energies(const BoundProblem& problem) {
  DirectEnergies energies(problem.einsums.size());
  const auto outermost = single_outermost(problem);
  if (!outermost) return energies;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e)
    for (std::size_t t = 0; t < problem.einsums[e].tensors.size(); ++t)
      energies[e].push_back(direct_energy(problem, EinsumId(e), static_cast<int>(t),
                                          {Factors::kPerfect, *outermost}));
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
