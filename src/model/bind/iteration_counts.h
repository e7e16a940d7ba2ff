#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// Points of one run of an Einsum.
double iteration_points(const Einsum& einsum);

/// Distinct values that an access touches, at least: of an input with its padding, which is moved
/// like values.
double touched_values(const Workload& workload, const Einsum& einsum, const TensorAccess& access);

/// How often an Einsum runs.
double instances_of(const BoundProblem& problem, EinsumId id);

}  // namespace sluice
