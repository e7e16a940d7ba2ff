#include <gtest/gtest.h>

#include <chrono>

#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kFusedCases = {.max_nests = 20'000, .max_evaluations = 1'000};

// So long that each of the property programs takes a part of it.
constexpr std::int64_t kParts = 4;
class FusedMapperPart : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, FusedMapperPart, ::testing::Range(std::int64_t{0}, kParts));

TEST_P(FusedMapperPart, FindsExactlyTheOptimumAndTheFrontsThatBruteForceFinds) {
  const Mapper* fused = standard_mappers().find("fused");
  ASSERT_NE(fused, nullptr);
  const testing::RandomCases cases = testing::random_cases(300);
  const std::int64_t first = cases.count * GetParam() / kParts;
  const std::int64_t last = cases.count * (GetParam() + 1) / kParts;
  std::int64_t mappings = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kFusedCases, oracle::kAllExtras);
    mappings += drawn.truth.full_mappings;
    const auto found = oracle::difference(*fused, drawn.problem, drawn.options, drawn.truth, seed);
    if (!found) continue;
    const auto simplest = oracle::shrink(*fused, drawn.spec, *found, kFusedCases, seed);
    FAIL() << "seed " << seed << ": " << *found << "\nsimplest problem:\n"
           << oracle::to_yaml(simplest.spec) << simplest.difference;
  }
  RecordProperty("full_mappings", std::to_string(mappings));
}

TEST(FusedMapper, WithEpsilonIsAtMostThatMuchWorseThanTheOptimum) {
  const Mapper* fused = standard_mappers().find("fused");
  double evaluated[2] = {0, 0};  // exact, near
  const auto best = [&](const oracle::RandomCase& drawn, Objective objective, double epsilon) {
    MapperOptions options = drawn.options;
    options.objectives = {objective};
    options.epsilon = epsilon;
    const auto found = fused->map(drawn.problem, options, {});
    if (!found) return 0.0;
    EXPECT_EQ(found->guarantee.kind,
              epsilon > 0 ? GuaranteeKind::kWithinEpsilon : GuaranteeKind::kOptimal);
    evaluated[epsilon > 0] += found->search.mappings_evaluated;
    return objective_value(objective, found->mappings[0].cost);
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const oracle::RandomCase drawn = oracle::random_case(seed, kFusedCases, oracle::kProvenExtras);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      const double exact = best(drawn, objective, 0), near = best(drawn, objective, 0.5);
      EXPECT_GE(near, exact) << seed;
      EXPECT_LE(near, exact * 1.5 * (1 + 1e-8)) << seed;
    }
  }
  EXPECT_LT(evaluated[1], evaluated[0]);
}

// Before there are prices, by what Einsums agree on, and on the way to the proof.
TEST(FusedMapper, NeverTellsABoundThatAMappingIsBelow) {
  const Mapper* fused = standard_mappers().find("fused");
  std::size_t n_told = 0, n_near = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const oracle::RandomCase drawn = oracle::random_case(seed, kFusedCases, oracle::kProvenExtras);
    if (drawn.problem.workload.einsums.size() < 2) continue;
    MapperOptions options = drawn.options;
    options.objectives = {seed % 2 == 0 ? Objective::kEdp : Objective::kEnergy};
    std::vector<double> told;
    MapperControl control;
    control.bound = [&](double bound) { told.push_back(bound); };
    const auto found = fused->map(drawn.problem, options, control);
    if (!found) continue;
    const double best = objective_value(options.objectives.front(), found->mappings[0].cost);
    for (const double bound : told) {
      EXPECT_LE(bound, best * (1 + 1e-9)) << "seed " << seed;
      ++n_told;
      n_near += bound > 0.9 * best && bound < 0.999 * best;
    }
  }
  EXPECT_GT(n_told, 200U);
  EXPECT_GT(n_near, 20U);
}

}  // namespace
}  // namespace sluice
