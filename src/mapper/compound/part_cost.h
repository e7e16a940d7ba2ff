#pragma once

#include <optional>
#include <vector>

#include "sluice/mapper/mapper.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/latency_policy.h"

namespace sluice::compound {

/// What a part of a mapping adds to the whole: parts under a sequential split add up.
struct PartCost {
  double energy_j = 0;   ///< without leakage
  double leak_w = 0;     ///< leakage per second of latency
  double policy_s = 0;   ///< latency by the policy, before it is compared with `overlap`
  double overlap_s = 0;  ///< policy `overlap`

  double latency_s() const { return policy_s > overlap_s ? policy_s : overlap_s; }
  double total_j() const { return energy_j + leak_w * latency_s(); }
  double objective(Objective objective) const;  ///< as objective_value has it
  PartCost operator+(const PartCost& other) const;
};

/// A part and what decides whether another one can be left out for it: none of its criteria is
/// larger.
struct PricedPart {
  PartCost cost;
  std::vector<double> criteria;   ///< energy, latencies; busy times and peaks where asked for
  std::vector<double> peak_bits;  ///< per ComponentId
  double windows = 0;             ///< of the outermost split: how often its children run
  double window_s = 0;            ///< policy `staged`: how long each time
};

/// How much of a part's account its criteria need.
enum class Account : bool { kTotals, kByComponent };

/// Nothing: illegal.
std::optional<PricedPart> price_part(const BoundProblem& problem, const Mapping& mapping,
                                     LatencyPolicy policy, Account account);

}  // namespace sluice::compound
