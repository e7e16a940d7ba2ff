#pragma once

#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/violation.h"

namespace sluice {

/// Prices a mapping under a latency policy (docs/model.md), or says everything that is illegal
/// about it. The mapping need not be in normal form. Pure: the same inputs give the same bits.
tl::expected<Cost, std::vector<Violation>> evaluate(const BoundProblem& problem,
                                                    const Mapping& mapping,
                                                    LatencyPolicy policy = LatencyPolicy::kOverlap);

/// As evaluate, but a mapping that only exceeds capacities is priced too; the excess is in
/// `violations`.
tl::expected<Cost, std::vector<Violation>> evaluate_ignoring_capacity(
    const BoundProblem& problem, const Mapping& mapping, std::vector<Violation>* violations,
    LatencyPolicy policy = LatencyPolicy::kOverlap);

/// The sums of a Cost alone.
struct CostTotals {
  double energy_j = 0;
  double latency_s = 0;
  std::vector<double> peak_bits;  ///< per ComponentId; 0 for what is no memory
};

/// As evaluate, without the account: the same energy and latency to the last bit. Nothing for an
/// illegal mapping.
std::optional<CostTotals> evaluate_totals(const BoundProblem& problem, const Mapping& mapping,
                                          LatencyPolicy policy = LatencyPolicy::kOverlap);

}  // namespace sluice
