// The least traffic, energy and latency are what brute force finds, Einsum by Einsum and together.
#include "sluice/mapper/least_costs.h"

#include <gtest/gtest.h>

#include "mapper/common/part_of_problem.h"
#include "oracle/compare.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kLimits = {.max_nests = 20'000, .max_evaluations = 300};

/// Nothing where there is no mapping.
std::optional<LeastCosts> by_brute_force(const BoundProblem& problem,
                                         const MapperOptions& options) {
  const oracle::Enumeration truth = oracle::enumerate(problem, options);
  const oracle::Enumeration traffic = oracle::enumerate(traffic_problem(problem), options);
  if (!truth.best_energy || !traffic.best_energy) return std::nullopt;
  const auto least = [](double value) { return Least{value, value, true}; };
  return LeastCosts{least(traffic.best_energy->point.energy_j),
                    least(truth.best_energy->point.energy_j),
                    least(truth.best_latency->point.latency_s)};
}

void expect_equal(const LeastCosts& found, const LeastCosts& expected, std::uint64_t seed) {
  for (Least LeastCosts::*number :
       {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s}) {
    const double value = (expected.*number).value;
    EXPECT_NEAR((found.*number).value, value, 1e-12 * value) << "seed " << seed;
    EXPECT_NEAR((found.*number).bound, value, 1e-12 * value) << "seed " << seed;
    EXPECT_TRUE((found.*number).is_proven) << "seed " << seed;
  }
}

TEST(LeastCosts, AreWhatBruteForceFinds) {
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t compared = 0, of_several = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kLimits, oracle::kAllExtras);
    const auto together = by_brute_force(drawn.problem, drawn.options);
    std::optional<LeastCosts> alone = LeastCosts{};
    for (std::size_t e = 0; alone && e < drawn.problem.einsums.size(); ++e) {
      const auto one = by_brute_force(part_of_problem(drawn.problem, {EinsumId(e)}), drawn.options);
      if (!one) alone.reset();
      for (Least LeastCosts::*number :
           {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s})
        if (one) ((*alone).*number).value += ((*one).*number).value;
    }
    const auto found = least_costs(drawn.problem, drawn.options, {});
    if (!together || (!alone && drawn.problem.einsums.size() > 1)) {
      EXPECT_FALSE(found.has_value()) << "seed " << seed;
      continue;
    }
    ASSERT_TRUE(found.has_value()) << "seed " << seed << ": " << found.error().reason;
    expect_equal(found->fused, *together, seed);
    expect_equal(found->alone, drawn.problem.einsums.size() > 1 ? *alone : *together, seed);
    ++compared;
    of_several += drawn.problem.einsums.size() > 1;
  }
  EXPECT_GT(compared, cases.count / 2);
  EXPECT_GT(of_several, cases.count / 6);
}

}  // namespace
}  // namespace sluice
