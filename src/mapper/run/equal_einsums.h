#pragma once

#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// Per Einsum, the first one that differs from it in names only: what is the best for one alone is
/// the best for the other. A step of a recurrence is like no other.
std::vector<EinsumId> first_equals(const BoundProblem& problem);

}  // namespace sluice
