// Random problems, walked Einsum by Einsum: what joins is a legal mapping of the searched space, so
// that none is better than the referee's optimum.
#include <gtest/gtest.h>

#include <limits>

#include "mapper/strategies/walked_parts.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

TEST(WalkedParts, JoinedAreMappingsOfTheSpace) {
  constexpr double kSeconds = 0.01;
  const testing::RandomCases cases = testing::random_cases(100);
  std::int64_t n_joined = 0, n_best = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase drawn =
        oracle::random_case(seed, {.max_nests = 500, .max_evaluations = 500}, oracle::kAllExtras);
    const MapperOptions options = options_of_walks(drawn.options);
    const MapperControl control;
    sampling::MapSpace space(drawn.problem, options);
    sampling::FanoutUse use(space);
    WalkedParts parts(drawn.problem, options, control, space, {.shortest = 2, .longest = 2});
    if (parts.empty()) continue;
    parts.walk(kSeconds);
    const auto genome = parts.joined(&space, &use);
    const auto found = genome ? space.price(*genome) : std::nullopt;
    if (!found) continue;
    ++n_joined;
    const auto& best = drawn.truth.best_edp;
    const std::string text =
        to_yaml(drawn.spec) +
        to_yaml(space.build(*genome), drawn.problem.workload, drawn.problem.arch);
    ASSERT_TRUE(best) << text;
    const double is = found->energy_j * found->latency_s;
    const double should = best->point.energy_j * best->point.latency_s;
    EXPECT_GE(is * (1 + 1e-12), should) << text;
    n_best += is <= should * (1 + 1e-12) ? 1 : 0;
  }
  RecordProperty("joined", static_cast<int>(n_joined));
  RecordProperty("best", static_cast<int>(n_best));
  EXPECT_GE(n_joined * 8, cases.count);
}

}  // namespace
}  // namespace sluice
