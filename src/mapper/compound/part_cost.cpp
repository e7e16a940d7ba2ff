#include "part_cost.h"

#include <algorithm>

#include "model/evaluate/part_totals.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::compound {

double PartCost::objective(Objective objective) const {
  return objective_value(objective, total_j(), latency_s());
}

PartCost PartCost::operator+(const PartCost& other) const {
  return {energy_j + other.energy_j, std::max(leak_w, other.leak_w), policy_s + other.policy_s,
          overlap_s + other.overlap_s};
}

std::optional<PricedPart> price_part(const BoundProblem& problem, const Mapping& mapping,
                                     LatencyPolicy policy, Account account) {
  auto totals = evaluate_additive(problem, mapping, policy, account == Account::kByComponent);
  if (!totals) return std::nullopt;
  PricedPart part;
  part.cost = {totals->dynamic_j, totals->leak_w, totals->policy_s, totals->overlap_s};
  part.criteria = {totals->dynamic_j, totals->leak_w, totals->policy_s, totals->overlap_s};
  if (account == Account::kByComponent)
    for (const std::vector<double>& more : {totals->peak_bits, totals->busy_s})
      part.criteria.insert(part.criteria.end(), more.begin(), more.end());
  part.peak_bits = std::move(totals->peak_bits);
  part.windows = totals->windows;
  part.window_s = totals->window_s;
  return part;
}

}  // namespace sluice::compound
