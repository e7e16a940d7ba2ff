#pragma once

#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/violation.h"

namespace sluice {

/// Where a mapping keeps a tensor in a memory against `keep`, `may_keep` or `back`. These rules
/// bound the mappers' space; a mapping that breaks them can still be priced, so evaluate does not
/// ask.
std::vector<Violation> keep_violations(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
