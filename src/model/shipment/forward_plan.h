#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/shipment/collective_plan.h"
#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// What a forward sends behind its maker (docs/collectives.md).
struct ForwardPlan {
  const Nest* maker = nullptr;
  int tensor = 0;                 ///< index into the maker's tensors
  std::int64_t executions = 1;    ///< steps, one after the other
  double bits_per_value = 1;      ///< in the memory
  std::vector<std::string> over;  ///< dimensions in which the ends of some message differ
  CollectiveCharge charge;
};

/// A sentence where its messages have no way: a container without a network.
/// Precondition: the other rules of check_forwards hold.
std::optional<std::string> why_no_forward(const BoundProblem& problem, const FlatTree& tree,
                                          const FlatForward& forward);

/// Precondition: all of these rules hold.
ForwardPlan plan_forward(const BoundProblem& problem, const FlatTree& tree,
                         const FlatForward& forward);

}  // namespace sluice
