// What no mapping is below, by perfect factors and by a relaxed machine, against brute force.
#include "sluice/mapper/relaxed_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/space_bounds.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kLimits = {.max_nests = 500, .max_evaluations = 300};
constexpr double kRounding = 1 + 1e-12;  ///< sums of the same terms in another order
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double optimum_of(const oracle::Enumeration& truth, Objective objective) {
  const auto& best = objective == Objective::kEnergy    ? truth.best_energy
                     : objective == Objective::kLatency ? truth.best_latency
                                                        : truth.best_edp;
  return best ? objective_value(objective, best->point.energy_j, best->point.latency_s) : kNoLimit;
}

TEST(RelaxedBound, IsBelowTheOptimumAndOftenAboveOtherBounds) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t asked = 0, known = 0, sharper_factors = 0, sharper = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      MapperOptions options = drawn.options;
      options.objectives = {objective};
      const double optimum = optimum_of(drawn.truth, objective);
      if (drawn.options.constraints != Constraints{} || optimum == kNoLimit) continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      const CostBounds own = space_bounds(fused, drawn.problem, options);
      const double of_factors = objective_bound(objective, own);
      EXPECT_LE(of_factors, optimum * kRounding) << oracle::to_yaml(drawn.spec);
      sharper_factors += of_factors > objective_bound(objective, drawn.problem.bounds) * kRounding;
      if (!takes_relaxed_bound(fused, drawn.problem, options)) continue;
      ++asked;
      double relaxed = 0;
      for (const double limit : {kNoLimit, 2 * optimum, 1.01 * optimum}) {
        const double bound = relaxed_bound(drawn.problem, options, limit, nullptr, {});
        EXPECT_LE(bound, optimum * kRounding) << limit << "\n" << oracle::to_yaml(drawn.spec);
        relaxed = std::max(relaxed, bound);
      }
      known += relaxed > 0;
      sharper += relaxed > of_factors * kRounding;
    }
  }
  RecordProperty("asked", static_cast<int>(asked));
  RecordProperty("known", static_cast<int>(known));
  RecordProperty("sharper_factors", static_cast<int>(sharper_factors));
  RecordProperty("sharper", static_cast<int>(sharper));
  EXPECT_GE(known * 2, asked);
  EXPECT_GE(sharper * 8, asked);
  EXPECT_GT(sharper_factors, 0);
}

}  // namespace
}  // namespace sluice
