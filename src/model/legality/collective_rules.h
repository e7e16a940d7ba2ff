#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Whether this loop spreads the reduction that makes a tensor over instances with a backing node
/// each: every instance holds a partial copy, and a collective must complete it (check_collectives
/// says so where there is none).
bool is_spread_reduction(const BoundProblem& problem, const FlatTree& tree, TensorId tensor,
                         const Node* loop);

/// Checks every collective (participants, networks, place among the children of its split), and
/// that every spread reduction has one.
void check_collectives(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
