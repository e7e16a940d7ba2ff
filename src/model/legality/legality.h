#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Checks everything about a flattened mapping except capacities.
void check_legality(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
