#include "group_constraints.h"

#include <algorithm>

#include "mapper/common/contains.h"
#include "mapper/common/spatial_wishes.h"
#include "mapper/common/storage_wishes.h"
#include "model/bind/fanout_use.h"
#include "sluice/support/error.h"

namespace sluice::compound {
namespace {

/// Those about all Einsums or one between `first` and `end`, whose ids count from `first` then.
template <class Constraint>
void keep_between(std::size_t first, std::size_t end, std::vector<Constraint>* constraints) {
  std::erase_if(*constraints, [&](const Constraint& c) {
    return c.einsum && (c.einsum->index() < first || c.einsum->index() >= end);
  });
  for (Constraint& c : *constraints)
    if (c.einsum) c.einsum = EinsumId(c.einsum->index() - first);
}

Constraints between(const Constraints& constraints, std::size_t first, std::size_t end) {
  Constraints own = constraints;
  keep_between(first, end, &own.storage);
  keep_between(first, end, &own.tiles);
  keep_between(first, end, &own.spatial);
  keep_between(first, end, &own.loop_orders);
  return own;
}

TensorMask held_by_memories(const BoundProblem& problem, const std::vector<TensorMask>& held) {
  TensorMask all = 0;
  for (std::size_t c = 0; c < held.size(); ++c)
    if (problem.arch.components[c].is_memory()) all |= held[c];
  return all;
}

}  // namespace

bool may_keep(const Constraints& constraints, const BoundProblem& problem, const Group& group) {
  for (const FusionConstraint& c : constraints.fusion) {
    const bool used = group.is_internal(c.tensor) || contains(group.external, c.tensor);
    if (used && problem.roles.is_intermediate(c.tensor) && c.fused != group.is_internal(c.tensor))
      return false;
  }
  for (const ScheduleConstraint& c : constraints.schedules) {
    const auto inside =
        std::count_if(c.einsums.begin(), c.einsums.end(), [&](EinsumId e) { return group.has(e); });
    const bool apart = inside > 0 && inside < static_cast<std::ptrdiff_t>(c.einsums.size());
    if (apart && c.kind != SplitKind::kSequential) return false;
  }
  return true;
}

Constraints constraints_on(const Constraints& constraints, const Group& group) {
  Constraints own = between(constraints, group.first, group.end);
  std::erase_if(own.fusion,
                [&](const FusionConstraint& c) { return !group.is_internal(c.tensor); });
  std::erase_if(own.collectives, [&](const CollectiveConstraint& c) {
    return !group.is_internal(c.tensor) && !contains(group.external, c.tensor);
  });
  std::erase_if(own.schedules, [&](const ScheduleConstraint& c) {
    return !std::all_of(c.einsums.begin(), c.einsums.end(),
                        [&](EinsumId e) { return group.has(e); });
  });
  for (ScheduleConstraint& c : own.schedules)
    for (EinsumId& einsum : c.einsums) einsum = EinsumId(einsum.index() - group.first);
  return own;
}

Constraints constraints_alone(const Constraints& constraints, const BoundProblem& problem,
                              const Group& group, EinsumId einsum) {
  Constraints own = between(constraints, einsum.index(), einsum.index() + 1);
  const ComponentId outermost = outermost_memory(problem, einsum, 0);
  for (StorageConstraint& c : own.storage)
    if (c.memory == outermost)
      std::erase_if(c.forbid, [&](TensorId tensor) { return group.is_internal(tensor); });
  own.fusion.clear();
  own.collectives.clear();
  own.schedules.clear();
  return own;
}

KeepSets allowed_sets(const BoundProblem& problem, const Constraints& constraints, EinsumId einsum,
                      ComponentId holder, const std::vector<TensorMask>& held) {
  const Result<KeepSets> sets = keep_sets(problem, einsum, holder, held);
  SLUICE_CHECK(sets.has_value(), "keep sets were checked when the problem was bound");
  KeepSets result = *sets;
  storage_wishes(constraints, problem[einsum], holder).apply_to(&result);
  if (problem.arch[holder].is_toll()) {
    const bool is_copy = problem.workload[einsum].is_copy_operation;
    const TensorMask passing = is_copy ? 0 : held_by_memories(problem, held);
    result.must &= passing;
    result.may &= passing;
  }
  result.may &= ~result.must;
  return result;
}

bool may_unroll(const BoundProblem& problem, const Constraints& constraints, EinsumId einsum,
                ComponentId component, std::uint32_t dimension, std::size_t variable) {
  const RankVariableId id = problem.workload[einsum].iteration_space[variable].variable;
  const BoundEinsum& bound = problem[einsum];
  return !keeps_off(constraints, einsum, component, dimension, id) &&
         may_spread(bound, bound.components[component.index()].spatial[dimension], variable);
}

}  // namespace sluice::compound
