#include "model/latency/counted_nests.h"
#include "sluice/model/latency_policy.h"

namespace sluice {

const LatencyMethod& segment_policy();  // segment_policy.cpp

namespace {

/// The ground of all others: their method adds nothing to it.
class Overlap final : public LatencyMethod {
 public:
  std::string name() const override { return "overlap"; }
  LatencyBreakdown latency(const CountedMapping&) const override { return {}; }
};

constinit const Overlap overlap;

}  // namespace

constinit const LatencyPolicy LatencyPolicy::kOverlap(overlap);

double CountedMapping::overlap_s() const { return nests_.overlapped.latency_s(); }

const LatencyPolicies& standard_latency_policies() {
  static const LatencyPolicies table = [] {
    LatencyPolicies policies;
    for (const LatencyPolicy& policy :
         {LatencyPolicy::kOverlap, LatencyPolicy::kPipeline, LatencyPolicy::kStaged})
      policies.add_static(policy.method());
    policies.add_static(segment_policy());
    return policies;
  }();
  return table;
}

}  // namespace sluice
