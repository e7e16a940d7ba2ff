#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Tiles that peers share (`shared_by`, docs/model.md): finds the loops over the peers, and makes
/// the tile of each node, and what it reserves, its share.
void find_shares(const BoundProblem& problem, FlatTree& tree);

/// What such a node must keep to.
void check_shares(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
