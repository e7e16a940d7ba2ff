// Where an Einsum has more templates than are to be tried, some are drawn: what comes out is legal,
// never better than the optimum of them all, and claims no proof.
#include <gtest/gtest.h>

#include "oracle/compare.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

TEST(Draw, FindsLegalMappingsAndProvesNothing) {
  const Mapper& fused = *standard_mappers().find("fused");
  const testing::RandomCases cases = testing::random_cases(40);
  int drawn = 0, best = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase own =
        oracle::random_case(seed, {.max_nests = 500, .max_evaluations = 50}, oracle::kAllExtras);
    MapperOptions options = own.options;
    options.objectives.resize(1);
    options.resource_usage = false;
    options.top = 1;
    options.epsilon = 0;
    const auto all = run_mapper(fused, own.problem, options, {});
    options.max_templates = 1;
    const auto some = run_mapper(fused, own.problem, options, {});
    ASSERT_EQ(some.has_value(), all.has_value()) << "seed " << seed;
    if (!all) continue;
    const auto value = [&](const MapperResult& result) {
      return objective_value(options.objectives.front(), result.mappings.front().cost);
    };
    const MappedResult& found = some->mappings.front();
    const auto cost = evaluate(own.problem, found.mapping, options.policy);
    ASSERT_TRUE(cost.has_value()) << "seed " << seed;
    EXPECT_EQ(*cost, found.cost) << "seed " << seed;
    EXPECT_GE(value(*some), value(*all) * (1 - 1e-12)) << "seed " << seed;
    if (some->search.ended_by != "templates") {  // each Einsum has one
      EXPECT_EQ(some->guarantee.kind, GuaranteeKind::kOptimal) << "seed " << seed;
      continue;
    }
    ++drawn;
    if (value(*some) <= value(*all) * (1 + 1e-12)) ++best;
    EXPECT_LE(some->guarantee.bound, value(*all) * (1 + 1e-12)) << "seed " << seed;
    if (some->guarantee.kind == GuaranteeKind::kOptimal)  // it meets the bound
      EXPECT_NEAR(value(*some), value(*all), 1e-12 * value(*all)) << "seed " << seed;
    else
      EXPECT_EQ(some->guarantee.kind, GuaranteeKind::kGap) << "seed " << seed;
  }
  EXPECT_GT(drawn, cases.count / 4);
  EXPECT_GT(2 * best, drawn);  // small problems: most draws meet the optimum
}

}  // namespace
}  // namespace sluice
