#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// A mapping as one nest per Einsum, with all that follows from its loops; what keeps it from being
/// one is reported.
FlatTree take_apart(const BoundProblem& problem, const Mapping& mapping, ViolationReport& report);

}  // namespace sluice
