#pragma once

#include <string>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Names of the constraints on tiles, spatial loops and orders of loops that a mapping keeps
/// because it has no node or loop that they are about.
std::vector<std::string> idle_constraints(const Constraints& constraints,
                                          const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
