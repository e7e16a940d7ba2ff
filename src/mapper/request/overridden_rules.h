#pragma once

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Whether constraints may take a tensor out of a memory that the architecture's `keep` puts it in,
/// or put it into one that the rules keep it out of: mappings then need not meet the rules, and the
/// lower bounds of the problem do not hold for them.
bool may_override_keep(const BoundProblem& problem, const Constraints& constraints);

}  // namespace sluice
