#include "constrained_problem.h"

#include <cstdint>
#include <limits>
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

/// Of tensors that are named; what the innermost node holds depends on the mapping.
void limit_tiles(const Constraints& constraints, BoundEinsum* einsum) {
  for (const TileConstraint& constraint : constraints.tiles) {
    if (constraint.einsum && *constraint.einsum != einsum->einsum) continue;
    const int variable = einsum->local_variable[constraint.variable.index()];
    TensorMask tensors = 0;
    for (const TensorId tensor : constraint.tensors)
      if (const int local = einsum->local_tensor[tensor.index()]; local >= 0)
        tensors |= TensorMask{1} << local;
    if (variable < 0 || tensors == 0) continue;
    einsum->components[constraint.memory.index()].tile_limits.push_back(
        {static_cast<std::size_t>(variable), tensors, constraint.minimum,
         constraint.maximum.value_or(std::numeric_limits<std::int64_t>::max())});
  }
}

}  // namespace

BoundProblem constrained(BoundProblem problem, const Constraints& constraints) {
  for (BoundEinsum& einsum : problem.einsums) {
    ask_memories(problem, constraints, &einsum);
    exclude_variables(problem, constraints, &einsum);
    limit_tiles(constraints, &einsum);
  }
  problem.bounds = cost_bounds(problem);
  return problem;
}

}  // namespace sluice
