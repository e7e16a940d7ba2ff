#pragma once

#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// The problem of some of a workload's Einsums, in this order, as if there were no others: tensors
/// that the others make are inputs. Only what the outermost memory holds follows from that, and it
/// holds all that they share with others; all other rules of the architecture say what they say of
/// these Einsums in the whole workload.
BoundProblem part_of_problem(const BoundProblem& problem, const std::vector<EinsumId>& einsums);

/// The same where rules of the architecture may need the other Einsums: diagnostics then.
Result<BoundProblem> bind_part(const BoundProblem& problem, const std::vector<EinsumId>& einsums);

/// The problem of one Einsum as the whole workload has bound it: what its components keep, and in
/// which width, follows from the whole.
BoundProblem one_as_bound(const BoundProblem& problem, EinsumId einsum);

/// Lets a component hold what another one may and must.
void take_rules(const BoundComponent& from, BoundComponent* component);

}  // namespace sluice
