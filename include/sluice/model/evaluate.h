#pragma once

#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/violation.h"

namespace sluice {

/// Prices a mapping under a latency policy (model.md), or says everything that is illegal about it.
/// The mapping need not be in normal form. Pure: the same inputs give the same bits.
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

/// Parts of a price of which each adds up over the branches of a sequential split. Under `staged`
/// the latency is the larger one of `policy_s` and `overlap_s` of the whole mapping.
struct AdditiveTotals {
  double dynamic_j = 0;  ///< energy without leakage
  double leak_w = 0;     ///< leakage per second of latency
  double policy_s = 0;   ///< the policy's own latency
  double overlap_s = 0;  ///< latency under `overlap`
  /// Policy `staged`: how often the children of the outermost split run (0 without one), and how
  /// long each time; the rest of policy_s are fills and drains around them.
  double windows = 0, window_s = 0;
  std::vector<double> peak_bits;  ///< per ComponentId
  std::vector<double> busy_s;     ///< per ComponentId, where asked for
};

/// Nothing for an illegal mapping. `by_component`: with `busy_s`.
std::optional<AdditiveTotals> evaluate_additive(const BoundProblem& problem, const Mapping& mapping,
                                                LatencyPolicy policy, bool by_component = false);

/// A part of a mapping under `overlap`.
struct PartTime {
  double latency_s = 0;
  std::vector<double> busy_s;  ///< per ComponentId, below a pipelined or parallel split; else none
};

/// One Einsum with what it sees of the nodes around, which need not be legal on its own: nothing is
/// checked. For bounds; nothing takes time where it cannot be priced.
PartTime unchecked_overlap(const BoundProblem& problem, const Mapping& mapping);

/// Where a mapping keeps a tensor in a memory against `keep`, `may_keep` or `back`. These rules
/// bound the mappers' space; a mapping that breaks them can still be priced, so evaluate does not
/// ask.
std::vector<Violation> keep_violations(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
