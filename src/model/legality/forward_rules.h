#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Checks everything that a pipelined split forwards: who makes and reads it, where they hold it,
/// how their loops cut it.
void check_forwards(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
