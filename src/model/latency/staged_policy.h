#pragma once

#include <vector>

#include "model/price/nest_pricer.h"
#include "model/traffic/traffic.h"
#include "model/tree/nest.h"
#include "sluice/model/latency_policy.h"
#include "sluice/model/stalls.h"

namespace sluice {

/// Latency of a flattened, legal mapping under policy `staged` (COMET eq. 1 to 7, in the reading of
/// docs/model.md); `traffic` per nest. `overlapped`: all nests priced under `overlap`; where that
/// takes longer, what is missing counts as optional stall.
LatencyBreakdown staged_latency(const BoundProblem& problem, const Mapping& mapping,
                                const FlatTree& tree, const std::vector<NestTraffic>& traffic,
                                const std::vector<Shipment>& shipments,
                                const NestPricer& overlapped);

/// As staged_latency, without what `overlap` takes longer: adds up over the children of a
/// sequential split.
LatencyBreakdown stage_times(const BoundProblem& problem, const Mapping& mapping,
                             const FlatTree& tree, const std::vector<NestTraffic>& traffic,
                             const std::vector<Shipment>& shipments, const NestPricer& overlapped);

/// The sum of stage_times, and what the children of the outermost split take of it.
struct StageTotals {
  double seconds = 0;
  double windows = 0;   ///< how often the children run; 0 without a split
  double window_s = 0;  ///< how long each time, without fills and drains of the stages around
};
StageTotals stage_totals(const BoundProblem& problem, const Mapping& mapping, const FlatTree& tree,
                         const std::vector<NestTraffic>& traffic,
                         const std::vector<Shipment>& shipments, const NestPricer& overlapped);

/// Where the stalls of staged_latency come from, longest first.
std::vector<StallRow> stall_rows(const BoundProblem& problem, const Mapping& mapping,
                                 const FlatTree& tree, const std::vector<NestTraffic>& traffic,
                                 const std::vector<Shipment>& shipments,
                                 const NestPricer& overlapped);

/// Seconds of all parts.
double total_seconds(const LatencyBreakdown& breakdown);

}  // namespace sluice
