#pragma once

#include <string>
#include <vector>

#include "sluice/model/evaluate.h"
#include "sluice/sim/execute.h"

namespace sluice::cli {

using Evaluation = tl::expected<Cost, std::vector<Violation>>;

/// Where the analytic model and the executor say different things of one mapping: legality, counts
/// (per Einsum, component, tensor and action), peak occupancy, padding, merging reads. One complete
/// line each; empty where they agree.
std::vector<std::string> disagreements(const BoundProblem& problem, const Evaluation& model,
                                       const Execution& executed);

}  // namespace sluice::cli
