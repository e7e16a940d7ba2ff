#pragma once

#include "model/nest.h"
#include "model/violation_report.h"

namespace sluice {

/// Checks everything about a flattened mapping except capacities.
void check_legality(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
