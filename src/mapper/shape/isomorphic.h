#pragma once

#include "einsum_shape.h"

namespace sluice::fused {

/// Whether two Einsums have the same pmappings but for names: everything that
/// decides them is equal, templates and constraints aside.
bool same_problem(const BoundProblem& problem, const EinsumShape& a, const EinsumShape& b);

}  // namespace sluice::fused
