#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Reports what pipelined and parallel splits cannot have between their children.
void check_concurrent(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
