#pragma once

#include <string>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Names of the constraints that a whole mapping breaks, in the order of Constraints, each once.
/// For any legal LoopTree, whichever mapper made it; nodes count where they are written, loops of
/// one step are none. docs/mappers.md ("What constraints ask for") says what each kind means.
std::vector<std::string> constraint_violations(const Constraints& constraints,
                                               const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
