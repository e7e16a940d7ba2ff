#include "constrained_problem.h"

#include <utility>

#include "mapper/common/spatial_wishes.h"
#include "mapper/common/storage_wishes.h"

namespace sluice {
namespace {

void ask_memories(const BoundProblem& problem, const Constraints& constraints,
                  BoundEinsum* einsum) {
  for (const StorageConstraint& constraint : constraints.storage) {
    const StorageWishes wishes = storage_wishes(constraints, *einsum, constraint.memory);
    BoundComponent& memory = einsum->components[constraint.memory.index()];
    // What a copy moves may stay where it is.
    if (!problem.workload[einsum->einsum].is_copy_operation) memory.asked = wishes.keep;
    memory.forbidden = wishes.forbid;
  }
}

void exclude_variables(const BoundProblem& problem, const Constraints& constraints,
                       BoundEinsum* einsum) {
  const std::vector<VariableRange>& ranges = problem.workload[einsum->einsum].iteration_space;
  for (const SpatialConstraint& constraint : constraints.spatial) {
    const auto [component, dimension] = std::pair(constraint.component, constraint.dimension);
    BoundSpatial& spatial = einsum->components[component.index()].spatial[dimension];
    for (std::size_t v = 0; v < ranges.size(); ++v)
      if (keeps_off(constraints, einsum->einsum, component, dimension, ranges[v].variable))
        spatial.excluded |= std::uint64_t{1} << v;
  }
}

}  // namespace

BoundProblem constrained(BoundProblem problem, const Constraints& constraints) {
  for (BoundEinsum& einsum : problem.einsums) {
    ask_memories(problem, constraints, &einsum);
    exclude_variables(problem, constraints, &einsum);
  }
  problem.bounds = cost_bounds(problem);
  return problem;
}

}  // namespace sluice
