#include "sluice/mapper/options_table.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace {

tl::expected<void, std::string> set(MapperOptions& options, const char* name, const char* text) {
  return find_mapper_option(name)->set(options, text);
}

TEST(OptionsTable, NamesEveryOptionOnce) {
  std::set<std::string> names;
  for (const MapperOption& option : mapper_option_table())
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
}

TEST(OptionsTable, AcceptsWhatItPrints) {
  for (const MapperOption& option : mapper_option_table()) {
    MapperOptions options;
    const std::string before = option.get(options);
    ASSERT_TRUE(option.set(options, before)) << option.name;
    EXPECT_EQ(option.get(options), before) << option.name;
  }
}

TEST(OptionsTable, ReadsLimitsAndInf) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "max_fused_loops", "1"));
  EXPECT_EQ(options.max_fused_loops, 1);
  ASSERT_TRUE(set(options, "max_fused_loops", "inf"));
  EXPECT_EQ(options.max_fused_loops, kUnlimitedLoops);
  EXPECT_EQ(set(options, "max_fused_loops", "-1").error(),
            "expected a whole number from 0 on, or inf");
}

TEST(OptionsTable, ReadsWholeNumbersWithExponents) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "max_templates", "1e3"));
  EXPECT_EQ(options.max_templates, 1000);
  ASSERT_TRUE(set(options, "seed", "2e9"));
  EXPECT_EQ(options.seed, 2'000'000'000U);
  for (const char* other : {"1e10", "1.5e0", "-1e3", "1e", "nan"})
    EXPECT_FALSE(set(options, "max_templates", other)) << other;
}

TEST(OptionsTable, ReadsSeveralObjectives) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "objective", "energy, latency"));
  EXPECT_EQ(options.objectives, (std::vector{Objective::kEnergy, Objective::kLatency}));
  EXPECT_FALSE(options.resource_usage);
  ASSERT_TRUE(set(options, "objective", "edp,resources"));
  EXPECT_TRUE(options.resource_usage);
  EXPECT_FALSE(set(options, "objective", "resources"));
  EXPECT_FALSE(set(options, "objective", "speed"));
}

TEST(OptionsTable, ReadsBudgetsOfTime) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "budget", "2.5s"));
  EXPECT_EQ(options.budget_seconds, 2.5);
  const std::pair<const char*, double> others[] = {
      {"500ms", 0.5}, {"5min", 300}, {"1h", 3600}, {"1e3ms", 1}};
  for (const auto& [text, seconds] : others) {
    ASSERT_TRUE(set(options, "budget", text)) << text;
    EXPECT_DOUBLE_EQ(*options.budget_seconds, seconds) << text;
  }
  for (const char* wrong : {"60", "s", "-1s", "0s", "60 minutes", "infs", ""})
    EXPECT_FALSE(set(options, "budget", wrong)) << wrong;
  ASSERT_TRUE(set(options, "budget", "none"));
  EXPECT_FALSE(options.budget_seconds);
}

TEST(OptionsTable, ReadsBudgetsOfEvaluations) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "budget", "1e6evals"));
  EXPECT_EQ(options.budget_evaluations, 1e6);
  EXPECT_FALSE(options.budget_seconds);
  ASSERT_TRUE(set(options, "budget", "60s,500evals"));
  EXPECT_EQ(options.budget_evaluations, 500);
  EXPECT_EQ(options.budget_seconds, 60);
  EXPECT_EQ(find_mapper_option("budget")->get(options), "60s,500evals");
  for (const char* wrong :
       {"1e6", "evals", "0evals", "-5evals", "5evals,6evals", "1s,2s", "nanevals"})
    EXPECT_FALSE(set(options, "budget", wrong)) << wrong;
}

TEST(OptionsTable, SwitchesOffPruningRulesByName) {
  MapperOptions options;
  ASSERT_TRUE(set(options, "disable_rules", "bounds,dominance"));
  EXPECT_FALSE(options.pruning.bounds);
  EXPECT_FALSE(options.pruning.dominance);
  EXPECT_TRUE(options.pruning.convex_hull);
  EXPECT_EQ(set(options, "disable_rules", "dominanc").error(),
            "expected none, or some of dominance, convex_hull, bounds, isomorphic_einsums, "
            "reservation_relevance, dead_ends, graph_first, held_bounds, redundant_templates, "
            "chains; did you mean 'dominance'?");
  ASSERT_TRUE(set(options, "disable_rules", "none"));
  EXPECT_TRUE(options.pruning.bounds);
}

TEST(OptionsTable, MakesFlagsOfNames) {
  EXPECT_EQ(flag_of(*find_mapper_option("max_fused_loops")), "--max-fused-loops");
  EXPECT_EQ(find_mapper_option("no_such_option"), nullptr);
}

}  // namespace
}  // namespace sluice
