#pragma once

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// The problem with what constraints ask memories to hold, and keep off spatial dimensions: its
/// bounds are those of all mappings that meet the constraints.
BoundProblem constrained(BoundProblem problem, const Constraints& constraints);

}  // namespace sluice
