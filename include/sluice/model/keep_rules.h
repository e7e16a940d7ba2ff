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

/// An input of the workload whose outermost node is in a memory that has no room for it as a whole:
/// its tiles are there, and what brings them costs nothing.
struct UnheldInput {
  TensorId tensor;
  ComponentId memory;
  double bits = 0;  ///< of the whole tensor there
};
/// Each tensor once.
std::vector<UnheldInput> unheld_inputs(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
