#pragma once

#include "group.h"
#include "sluice/mapper/constraints.h"

namespace sluice::compound {

/// Whether mappings of the group can keep the constraints on fusion and on splits: what must be
/// exchanged on chip is internal, what must not is external, Einsums that ask for a split of their
/// own kind are together.
bool may_keep(const Constraints& constraints, const BoundProblem& problem, const Group& group);

/// The constraints on the group's Einsums and internal tensors; Einsum ids count from its first.
Constraints constraints_on(const Constraints& constraints, const Group& group);

/// The constraints on the nest of one Einsum of a group, as those of a workload of this Einsum
/// alone: there the group's internal tensors stand in the outermost memory, only to be priced.
Constraints constraints_alone(const Constraints& constraints, const BoundProblem& problem,
                              const Group& group, EinsumId einsum);

/// keep_sets(), with what the constraints force into the memory or toll or out of it. A toll is
/// passed by what memories further out hold; a copy has no nodes there.
KeepSets allowed_sets(const BoundProblem& problem, const Constraints& constraints, EinsumId einsum,
                      ComponentId holder, const std::vector<TensorMask>& held);

/// Whether constraints and the dimension's `reuse` let it unroll this variable of the Einsum (index
/// into its iteration space).
bool may_unroll(const BoundProblem& problem, const Constraints& constraints, EinsumId einsum,
                ComponentId component, std::uint32_t dimension, std::size_t variable);

}  // namespace sluice::compound
