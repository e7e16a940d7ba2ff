#pragma once

#include <vector>

#include "model/traffic/traffic.h"
#include "model/tree/nest.h"
#include "sluice/model/latency_policy.h"

namespace sluice {

/// Latency of a flattened, legal mapping under policy `pipeline`; `traffic` per nest. Einsums that
/// share temporal loops advance in one pipeline, the others follow each other.
LatencyBreakdown pipeline_latency(const BoundProblem& problem, const FlatTree& tree,
                                  const std::vector<NestTraffic>& traffic);

}  // namespace sluice
