#pragma once

#include "sluice/model/binding.h"
#include "sluice/model/cost_bounds.h"

namespace sluice {

/// cost_bounds() (J, s) where Einsums may run at the same time (pipelined and parallel splits),
/// each on a compute of its own. Of any factors: `concurrent_bounds(problem)`, which is known
/// already.
CostBounds concurrent_bounds(const BoundProblem& problem, Factors factors);

}  // namespace sluice
