#pragma once

#include <optional>
#include <string>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice::oracle {

/// Runs a mapping that the model accepts literally, and compares: no complaint, the counts of every
/// Einsum, component, tensor and action, the peak of every memory. What differs, or nothing.
std::optional<std::string> executed_otherwise(const BoundProblem& problem, const Mapping& mapping,
                                              const Cost& cost);

}  // namespace sluice::oracle
