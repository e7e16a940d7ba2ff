#pragma once

#include <string>
#include <vector>

#include "sluice/model/evaluate.h"
#include "sluice/referee/execute.h"

namespace sluice::cli {

using Evaluation = tl::expected<Cost, std::vector<Violation>>;

/// Whether the model does not say what a mapping costs, although it may well be legal.
bool is_unpriced(const std::vector<Violation>& violations);

/// Where the analytic model and the executor say different things of one mapping: legality, counts
/// (per Einsum, component, tensor and action), actions of memories, peak occupancy, who leaks,
/// padding, merging reads. One complete line each; empty where they agree, or where the model does
/// not price the mapping.
std::vector<std::string> disagreements(const BoundProblem& problem, const Evaluation& model,
                                       const Execution& executed);

}  // namespace sluice::cli
