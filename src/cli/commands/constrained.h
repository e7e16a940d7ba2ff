#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/latency_policy.h"
#include "sluice/model/violation.h"

namespace sluice::cli {

/// A violation for each constraint that a legal mapping breaks, with the node to blame where there
/// is one.
std::vector<Violation> constraint_faults(const BoundProblem& problem, const Mapping& mapping,
                                         const std::optional<Constraints>& constraints);

/// evaluate() of a mapping that is to keep constraints, too.
tl::expected<Cost, std::vector<Violation>> evaluate_constrained(
    const BoundProblem& problem, const Mapping& mapping, LatencyPolicy policy,
    const std::optional<Constraints>& constraints);

/// What a violation of one of the mappings says, at the node to blame.
Diagnostic mistake_at(const Specs& specs, std::size_t mapping, const Violation& violation,
                      std::string message);

}  // namespace sluice::cli
