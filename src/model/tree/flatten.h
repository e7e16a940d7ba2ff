#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Takes a mapping apart: one nest a compute, with every storage node where it takes effect, and
/// the reservations that are alive while it runs. Reports nodes that the model cannot price,
/// Einsums that are missing or repeated, and loops that repeat an Einsum.
FlatTree flatten(const BoundProblem& problem, const Mapping& mapping, ViolationReport& report);

}  // namespace sluice
