#pragma once

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Row-wise fusion through affine accesses (docs/model.md): where
/// a consumer reads a rank as s·q+r below a loop over q that it shares with the producer, the
/// loop's tile Tq is the consumer's. The producer makes s·(Tq−1)+R rows in the first step and s·Tq
/// new ones in each later step. Replaces the producer's tiles accordingly, before finish_nests.
void derive_row_tiles(const BoundProblem& problem, FlatTree& tree, ViolationReport& report);

}  // namespace sluice
