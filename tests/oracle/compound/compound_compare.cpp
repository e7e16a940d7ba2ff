#include "oracle/compound/compound_compare.h"

#include <fmt/format.h>

#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"

namespace sluice::oracle {
namespace {

constexpr double kTolerance = 1e-12;  ///< relative: sums in another order

bool is_below(double a, double b) { return a < b * (1 - kTolerance); }

std::string title_of(Objective objective, LatencyPolicy policy) {
  const char* name = objective == Objective::kEnergy    ? "energy"
                     : objective == Objective::kLatency ? "latency"
                                                        : "edp";
  return fmt::format("{} under {}", name, policy.name());
}

std::string text_of(const CompoundCase& drawn, const char* whose, const Mapping& mapping,
                    double energy_j, double latency_s) {
  return fmt::format("\n# {}: {} J {} s\n{}", whose, energy_j, latency_s,
                     to_yaml(mapping, drawn.problem.workload, drawn.problem.arch));
}

/// What is wrong with a mapping in itself.
std::optional<std::string> wrong_by_itself(const CompoundCase& drawn, const MappedResult& found) {
  const auto cost = evaluate(drawn.problem, found.mapping, drawn.policy);
  if (!cost) return "the mapping is illegal: " + cost.error().front().message;
  if (cost->energy_j != found.cost.energy_j || cost->latency_s != found.cost.latency_s)
    return fmt::format("evaluate says {} J {} s", cost->energy_j, cost->latency_s);
  const auto kept = keep_violations(drawn.problem, found.mapping);
  if (!kept.empty()) return kept.front().message;
  return std::nullopt;
}

/// What the guarantee says of an objective that is best at `best`, where `is` was found.
std::optional<std::string> wrong_guarantee(const Guarantee& guarantee, double is, double best,
                                           CompoundTally& tally) {
  if (is_below(is, best))
    return fmt::format("found {} is better than brute force {}: not in the space", is, best);
  switch (guarantee.kind) {
    case GuaranteeKind::kOptimal:
      ++tally.optimal;
      if (is_below(best, is)) return fmt::format("`optimal` {}, brute force {}", is, best);
      return std::nullopt;
    case GuaranteeKind::kGap:
      ++tally.gap;
      if (is_below(best, guarantee.bound))
        return fmt::format("bound {} is above the optimum {}", guarantee.bound, best);
      return std::nullopt;
    case GuaranteeKind::kWithinEpsilon:
    case GuaranteeKind::kNone:
      break;
  }
  return "a guarantee that was not asked for, or none";
}

}  // namespace

std::optional<std::string> compound_difference(const Mapper& mapper, const CompoundCase& drawn,
                                               Objective objective, CompoundTally& tally) {
  MapperOptions options;
  options.objectives = {objective};
  options.policy = drawn.policy;
  options.imperfect_factors = drawn.imperfect;
  options.max_fused_loops = drawn.max_fused_loops;
  const auto answer = run_mapper(mapper, drawn.problem, options, {});
  const std::optional<CompoundBest>& best = drawn.truth.of(objective);
  const std::string title = title_of(objective, drawn.policy) + ": ";
  std::string referee;
  if (best) referee = text_of(drawn, "referee", best->mapping, best->energy_j, best->latency_s);
  if (!answer) {
    if (best) return title + "the mapper finds nothing: " + answer.error().reason + referee;
    if (!answer.error().proven) return title + "no mapping, but not proven";
    ++tally.nothing;
    return std::nullopt;
  }
  if (answer->mappings.empty()) return title + "a result without a mapping" + referee;
  const MappedResult& found = answer->mappings.front();
  const std::string both =
      text_of(drawn, "mapper", found.mapping, found.cost.energy_j, found.cost.latency_s) + referee;
  if (auto wrong = wrong_by_itself(drawn, found)) return title + *wrong + both;
  if (!best) return title + "brute force finds nothing" + both;
  const double should = objective_value(objective, best->energy_j, best->latency_s);
  const double is = objective_value(objective, found.cost);
  if (auto wrong = wrong_guarantee(answer->guarantee, is, should, tally))
    return title + *wrong + both;
  return std::nullopt;
}

std::optional<std::string> compound_difference(const Mapper& mapper, const CompoundCase& drawn,
                                               CompoundTally& tally) {
  for (Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp})
    if (auto found = compound_difference(mapper, drawn, objective, tally)) return found;
  return std::nullopt;
}

}  // namespace sluice::oracle
