#include "constrained_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mapper/common/contains.h"
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
    memory.forbidden = (memory.forbidden | wishes.forbid) & ~wishes.keep;
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
/// `has_minimum`: whether tiles are held as they are written. They may be smaller where the node
/// sinks.
void limit_tiles(const Constraints& constraints, bool has_minimum, BoundEinsum* einsum) {
  for (const TileConstraint& constraint : constraints.tiles) {
    if (constraint.einsum && *constraint.einsum != einsum->einsum) continue;
    const int variable = einsum->local_variable[constraint.variable.index()];
    TensorMask tensors = 0;
    for (const TensorId tensor : constraint.tensors)
      if (const int local = einsum->local_tensor[tensor.index()]; local >= 0)
        tensors |= TensorMask{1} << local;
    if (variable < 0 || tensors == 0) continue;
    einsum->components[constraint.memory.index()].tile_limits.push_back(
        {static_cast<std::size_t>(variable), tensors, has_minimum ? constraint.minimum : 1,
         constraint.maximum.value_or(std::numeric_limits<std::int64_t>::max())});
  }
}

/// A constraint that asks a memory off the compute's path to hold what the Einsum uses; null: none.
const StorageConstraint* missing_memory(const BoundProblem& problem, const BoundEinsum& einsum,
                                        const BoundCompute& compute,
                                        const Constraints& constraints) {
  if (problem.workload[einsum.einsum].is_copy_operation) return nullptr;  // as in find_fault()
  const auto is_used = [&](TensorId tensor) { return einsum.local_tensor[tensor.index()] >= 0; };
  const auto at = std::find_if(constraints.storage.begin(), constraints.storage.end(),
                               [&](const StorageConstraint& own) {
                                 return compute.depth[own.memory.index()] < 0 &&
                                        (!own.einsum || *own.einsum == einsum.einsum) &&
                                        std::any_of(own.keep.begin(), own.keep.end(), is_used);
                               });
  return at == constraints.storage.end() ? nullptr : &*at;
}

}  // namespace

std::optional<BoundProblem> without_excluded_computes(const BoundProblem& problem,
                                                      const Constraints& constraints) {
  std::optional<BoundProblem> left;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes) {
      if (missing_memory(problem, einsum, compute, constraints) == nullptr) continue;
      if (!left) left = problem;
      std::erase_if(left->einsums[einsum.einsum.index()].computes,
                    [&](const BoundCompute& own) { return own.component == compute.component; });
    }
  return left;
}

std::optional<NoMapping> no_compute_left(const BoundProblem& problem,
                                         const Constraints& constraints) {
  for (const BoundEinsum& einsum : problem.einsums) {
    std::vector<std::string> names, computes;
    for (const BoundCompute& compute : einsum.computes)
      if (const auto* missing = missing_memory(problem, einsum, compute, constraints)) {
        if (!contains(names, missing->name)) names.push_back(missing->name);
        computes.push_back(fmt::format("{} is not inside {}", problem.arch[compute.component].name,
                                       problem.arch[missing->memory].name));
      }
    if (computes.empty() || computes.size() < einsum.computes.size()) continue;
    NoMapping no;
    no.reason = fmt::format("constraints leave no mapping: {} (no compute is left for {}: {})",
                            fmt::join(names, ", "), problem.workload[einsum.einsum].name,
                            fmt::join(computes, ", "));
    no.nearest_relaxation = fmt::format("leave out or loosen {}", fmt::join(names, ", "));
    no.einsum = einsum.einsum;
    return no;
  }
  return std::nullopt;
}

namespace {

BoundProblem with_constraints(BoundProblem problem, const Constraints& constraints,
                              bool has_minimum) {
  for (BoundEinsum& einsum : problem.einsums) {
    ask_memories(problem, constraints, &einsum);
    exclude_variables(problem, constraints, &einsum);
    limit_tiles(constraints, has_minimum, &einsum);
  }
  problem.bounds = cost_bounds(problem);
  return problem;
}

}  // namespace

BoundProblem constrained(BoundProblem problem, const Constraints& constraints) {
  return with_constraints(std::move(problem), constraints, false);
}

BoundProblem constrained_as_held(BoundProblem problem, const Constraints& constraints) {
  return with_constraints(std::move(problem), constraints, true);
}

}  // namespace sluice
