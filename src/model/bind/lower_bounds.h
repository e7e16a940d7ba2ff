#pragma once

#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice {

/// Lower bounds that no mapping can beat: peak compute rate, and the traffic of the outermost
/// memory that every mapping must cause.
CostBounds cost_bounds(const BoundProblem& problem);

}  // namespace sluice
