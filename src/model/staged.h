#pragma once

#include <vector>

#include "model/nest.h"
#include "model/traffic.h"
#include "sluice/model/latency_policy.h"

namespace sluice {

/// Latency of a flattened, legal mapping under policy `staged` (COMET eq. 1, 2 and 5, in the
/// reading of docs/model.md); `traffic` per nest. At least `overlap_s`, the mapping's latency under
/// `overlap`: what is missing counts as optional stall.
LatencyBreakdown staged_latency(const BoundProblem& problem, const Mapping& mapping,
                                const FlatTree& tree, const std::vector<NestTraffic>& traffic,
                                double overlap_s);

}  // namespace sluice
