// Random problems: walks side by side have the best mapping of each other, at the same cost in
// their own space of templates.
#include "mapper/strategies/best_of_walks.h"

#include <gtest/gtest.h>

#include "mapper/sampling/drawer.h"
#include "mapper/sampling/sampling_run.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kFewNests = {.max_nests = 500, .max_evaluations = 500};

TEST(BestOfWalks, CostsTheSameInASpaceOfFewTemplates) {
  const testing::RandomCases cases = testing::random_cases(150);
  std::int64_t n_taken = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewNests, oracle::kAllExtras);
    const MapperOptions options = options_of_walks(drawn.options);
    sampling::MapSpace space(drawn.problem, options);
    sampling::FanoutUse use(space);
    sampling::Drawer drawer(space, &use, sampling::RandomSource(seed), nullptr);
    const auto genome = drawer.draw_mapping();
    const auto cost = genome ? space.price(*genome) : std::nullopt;
    if (!cost) continue;
    const double objective = cost->energy_j * cost->latency_s;
    BestOfWalks best;
    best.offer(objective, *genome, space);
    best.offer(2 * objective, {}, space);
    sampling::MapSpace few(drawn.problem, options, {.most = 1});
    sampling::FanoutUse use_of_few(few);
    EXPECT_FALSE(best.below(objective, &few, &use_of_few));
    const auto taken = best.below(2 * objective, &few, &use_of_few);
    if (!taken) continue;
    ++n_taken;
    EXPECT_TRUE(few.joins(*taken));
    const auto there = few.price(*taken);
    ASSERT_TRUE(there);
    EXPECT_EQ(there->energy_j, cost->energy_j);
    EXPECT_EQ(there->latency_s, cost->latency_s);
  }
  EXPECT_GE(n_taken * 2, cases.count);
}

TEST(BestOfWalks, EachHasWhatAnotherFound) {
  constexpr double kSeconds = 0.01;
  const testing::RandomCases cases = testing::random_cases(40);
  std::int64_t n_found = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewNests, oracle::kAllExtras);
    const MapperOptions options = options_of_walks(drawn.options);
    const MapperControl control;
    const auto best = std::make_shared<BestOfWalks>();
    Walks first(drawn.problem, options, control, true, best);
    Walks second(drawn.problem, options, control, true, best);
    for (std::size_t round = 0; round < 2; ++round) first.walk(round, kSeconds);
    if (first.run()->record().best() == nullptr) continue;
    first.walk(2, 0);  // tells what it has
    second.walk(0, 0);
    ++n_found;
    ASSERT_NE(second.run()->record().best(), nullptr);
    const auto objective = [](const Walks& walks) {
      return *walks.run()->record().objective(*walks.run()->record().best());
    };
    EXPECT_LE(objective(second), objective(first));
  }
  EXPECT_GE(n_found * 2, cases.count);
}

}  // namespace
}  // namespace sluice
