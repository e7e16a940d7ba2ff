#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Checks what several Einsums must agree on: a tensor is made before it is read, both sides find
/// it in the same memory, and the loops that they share walk it alike.
void check_sharing(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
