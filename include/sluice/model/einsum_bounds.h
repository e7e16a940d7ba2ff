#pragma once

#include "sluice/model/binding.h"
#include "sluice/model/cost_bounds.h"

namespace sluice {

/// `problem.bounds` of one Einsum among the others (J, s): without what it exchanges with them, and
/// without the inputs that others read, too. Those of all Einsums add up to no more than any
/// mapping costs that runs one Einsum at a time.
CostBounds einsum_bounds(const BoundProblem& problem, EinsumId einsum,
                         Factors factors = Factors::kAny);

}  // namespace sluice
