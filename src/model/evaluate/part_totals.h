#pragma once

#include <optional>
#include <vector>

#include "sluice/model/evaluate.h"

namespace sluice {

// What searches want to know of parts of mappings.

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

}  // namespace sluice
