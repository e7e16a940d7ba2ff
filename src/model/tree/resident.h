#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Nodes marked `resident` in a pipelined split of several steps: they stay as long as their child
/// runs, and its steps do not fill them again.
void find_residents(FlatTree& tree);

/// Reports resident nodes that could not be filled once.
void check_residents(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
