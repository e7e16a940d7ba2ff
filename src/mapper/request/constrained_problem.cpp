#include "constrained_problem.h"

#include "mapper/common/contains.h"
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

void keep_off(const Workload& workload, const SpatialConstraint& constraint, BoundEinsum* einsum) {
  if (constraint.einsum && *constraint.einsum != einsum->einsum) return;
  BoundSpatial& spatial =
      einsum->components[constraint.component.index()].spatial[constraint.dimension];
  const std::vector<VariableRange>& ranges = workload[einsum->einsum].iteration_space;
  for (std::size_t v = 0; v < ranges.size(); ++v)
    if (!contains(constraint.variables, ranges[v].variable))
      spatial.excluded |= std::uint64_t{1} << v;
}

}  // namespace

BoundProblem constrained(BoundProblem problem, const Constraints& constraints) {
  for (BoundEinsum& einsum : problem.einsums) {
    ask_memories(problem, constraints, &einsum);
    for (const SpatialConstraint& constraint : constraints.spatial)
      keep_off(problem.workload, constraint, &einsum);
  }
  problem.bounds = cost_bounds(problem);
  return problem;
}

}  // namespace sluice
