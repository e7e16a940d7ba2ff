#include "mapper/request/constraint_fault.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "mapper/common/contains.h"

namespace sluice {
namespace {

/// The tile that the step's node sees, where it is not within the bounds.
std::optional<ConstraintFault> misfit(const TileConstraint& c, const WalkedStep& step,
                                      std::size_t variable) {
  const std::int64_t tile = step.storage->tiles[variable];
  const std::int64_t most = c.maximum.value_or(std::numeric_limits<std::int64_t>::max());
  if (c.minimum <= tile && tile <= most) return std::nullopt;
  return ConstraintFault{&step, {}, tile};
}

}  // namespace

std::optional<ConstraintFault> find_fault(const StorageConstraint& c, const BoundProblem& problem,
                                          const EinsumWalk& way) {
  std::vector<TensorId> held;
  for (const WalkedStep& step : way.steps) {
    if (!is_at(step, c.memory)) continue;
    for (const TensorId tensor : step.storage->tensors) {
      if (contains(c.forbid, tensor)) return ConstraintFault{&step, tensor, 0};
      held.push_back(tensor);
    }
  }
  // What a copy reads and what it writes may be one and the same: it need not stand twice.
  if (problem.workload[way.einsum].is_copy_operation) return std::nullopt;
  for (const TensorId tensor : c.keep)
    if (problem[way.einsum].local_tensor[tensor.index()] >= 0 && !contains(held, tensor))
      return ConstraintFault{nullptr, tensor, 0};
  return std::nullopt;
}

std::optional<ConstraintFault> find_fault(const TileConstraint& c, const BoundProblem& problem,
                                          const EinsumWalk& way) {
  const int local = problem[way.einsum].local_variable[c.variable.index()];
  if (local < 0) return std::nullopt;
  const auto variable = static_cast<std::size_t>(local);
  if (c.tensors.empty()) {
    const auto innermost = innermost_node(way, c.memory);
    return innermost == way.steps.end() ? std::nullopt : misfit(c, *innermost, variable);
  }
  for (const WalkedStep& step : way.steps) {
    if (!is_at(step, c.memory)) continue;
    for (const TensorId tensor : c.tensors) {
      if (!contains(step.storage->tensors, tensor)) continue;
      if (auto fault = misfit(c, step, variable)) return fault;
    }
  }
  return std::nullopt;
}

std::optional<ConstraintFault> find_fault(const SpatialConstraint& c, const BoundProblem&,
                                          const EinsumWalk& way) {
  for (const WalkedStep& step : way.steps)
    if (!step.storage && step.loop.component == c.component && step.loop.dimension == c.dimension &&
        !contains(c.variables, step.loop.variable))
      return ConstraintFault{&step, {}, 0};
  return std::nullopt;
}

std::string reason_of(const StorageConstraint& c, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk& way) {
  return fmt::format("{} {} {} for {}", problem.workload[*fault.tensor].name,
                     fault.step != nullptr ? "is held in" : "is not held in",
                     problem.arch[c.memory].name, problem.workload[way.einsum].name);
}

std::string reason_of(const TileConstraint& c, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk&) {
  const bool is_small = fault.tile < c.minimum;
  return fmt::format("{} is {} at {}, {} {}", problem.workload[c.variable].name, fault.tile,
                     problem.arch[c.memory].name, is_small ? "at least" : "at most",
                     is_small ? c.minimum : *c.maximum);
}

std::string reason_of(const SpatialConstraint& c, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk&) {
  std::vector<std::string> allowed;
  for (const RankVariableId variable : c.variables)
    allowed.push_back(problem.workload[variable].name);
  const Component& component = problem.arch[c.component];
  return fmt::format(
      "{} is unrolled over {} of {}, {}", problem.workload[fault.step->loop.variable].name,
      component.spatial[c.dimension].name, component.name,
      allowed.empty() ? "nothing may be" : fmt::format("only {} may be", fmt::join(allowed, ", ")));
}

}  // namespace sluice
