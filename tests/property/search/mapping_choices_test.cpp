// Random problems: a mapping that somebody wrote is a mapping of the space of walks again, at the
// same cost or less, also where that has few templates of its own.
#include "mapper/chains/mapping_choices.h"

#include <gtest/gtest.h>

#include "mapper/sampling/drawer.h"
#include "mapper/sampling/sampling_run.h"
#include "mapper/strategies/walks.h"
#include "oracle/compare.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kFewNests = {.max_nests = 500, .max_evaluations = 500};
constexpr double kSums = 1e-12;

double edp(const CostTotals& cost) { return cost.energy_j * cost.latency_s; }

/// A mapping of a random case, drawn among all of its templates.
struct Drawn {
  std::optional<Mapping> mapping;
  std::optional<CostTotals> cost;
};
Drawn draw(const BoundProblem& problem, const MapperOptions& options, std::uint64_t seed) {
  const sampling::MapSpace space(problem, options);
  sampling::FanoutUse use(space);
  sampling::Drawer drawer(space, &use, sampling::RandomSource(seed), nullptr);
  Drawn drawn;
  const auto genome = drawer.draw_mapping();
  if (genome) drawn.cost = space.price(*genome);
  if (drawn.cost) drawn.mapping = space.build(*genome);
  return drawn;
}

TEST(MappingChoices, AreTheMappingAgain) {
  const testing::RandomCases cases = testing::random_cases(100);
  std::int64_t n_drawn = 0, n_read = 0, n_equal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase random = oracle::random_case(seed, kFewNests, oracle::kAllExtras);
    const MapperOptions options = options_of_walks(random.options);
    const Drawn drawn = draw(random.problem, options, seed);
    if (!drawn.mapping) continue;
    ++n_drawn;
    sampling::MapSpace few(random.problem, options, {.most = 1});
    sampling::FanoutUse use(few);
    const auto genome = chains::choices_of(*drawn.mapping, *drawn.cost, &few, &use);
    if (!genome) continue;
    ++n_read;
    EXPECT_TRUE(few.joins(*genome));
    const auto cost = few.price(*genome);
    if (cost && edp(*cost) <= (1 + kSums) * edp(*drawn.cost)) ++n_equal;
  }
  EXPECT_GE(n_drawn * 2, cases.count);
  EXPECT_GE(n_read * 10, 9 * n_drawn);
  EXPECT_GE(n_equal * 20, 19 * n_read);
}

TEST(MappingChoices, WalksGoOnFromTheIncumbent) {
  const testing::RandomCases cases = testing::random_cases(25);
  std::int64_t n_found = 0, n_taken = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const oracle::RandomCase random = oracle::random_case(seed, kFewNests, oracle::kAllExtras);
    const MapperOptions options = options_of_walks(random.options);
    const Drawn drawn = draw(random.problem, options, seed);
    if (!drawn.mapping) continue;
    const auto cost = evaluate(random.problem, *drawn.mapping, options.policy);
    ASSERT_TRUE(cost);
    Incumbent incumbent;
    const Objective objective = options.objectives.front();
    incumbent.offer(objective_value(objective, *cost), {*drawn.mapping, *cost});
    MapperControl control;
    control.incumbent = &incumbent;
    Walks walks(random.problem, options, control);
    walks.walk(0, 0);
    ++n_found;
    const CostTotals* best = walks.run()->record().best();
    n_taken += best != nullptr && objective_value(objective, best->energy_j, best->latency_s) <=
                                      (1 + kSums) * objective_value(objective, *cost);
  }
  EXPECT_GE(n_taken * 10, 9 * n_found);
}

}  // namespace
}  // namespace sluice
