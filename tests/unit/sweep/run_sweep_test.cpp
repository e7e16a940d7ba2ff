#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/mapper/run_mapper.h"
#include "sluice/sweep/sweep_table.h"
#include "small_specs.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using testing::SmallSpecs;

SweepPlan planned(const SmallSpecs& specs, const std::vector<std::string>& vary) {
  auto plan = plan_sweep(specs.request(vary), {});
  EXPECT_TRUE(plan) << to_string(plan.error());
  return plan ? std::move(*plan) : SweepPlan{};
}

/// The table without what depends on the clock.
std::string contents(const SweepPlan& plan, const SweepDatabase& database) {
  SweepTable table = *sweep_table(plan, database);
  for (auto& row : table.rows)
    for (const char* column : {"seconds", "mappings_evaluated"})
      row[*table.find_column(column)] = {};
  std::string text = csv_text(table);
  for (const SweepPoint& point : plan.points)
    if (const auto run = *database.find(point.key))
      for (const SweepMapping& mapping : run->mappings) text += mapping.mapping;
  return text;
}

const std::vector<std::string> kSixPoints = {"BUFFER=32B..1KiB:x2", "M=16"};

TEST(RunSweep, FindsWhatASearchOfEachPointFinds) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, {"BUFFER=32B..512B:x2", "M=16,32"});
  SweepDatabase database = *SweepDatabase::open("");
  const auto outcome = run_sweep(plan, database, {}, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->n_done, 10u);
  for (const SweepPoint& point : plan.points) {
    const auto inputs = *sweep_inputs(plan.request, point, {});
    const auto alone = run_mapper(*standard_mappers().find("fused"), inputs.problem, inputs.options,
                                  MapperControl{});
    const auto run = *database.find(point.key);
    ASSERT_TRUE(alone && run);
    EXPECT_DOUBLE_EQ(run->mappings.front().edp_js, alone->mappings.front().cost.edp_js());
    EXPECT_EQ(run->guarantee, "optimal");
  }
}

TEST(RunSweep, DoesNotDependOnTheNumberOfJobs) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, kSixPoints);
  std::vector<std::string> all;
  for (const std::size_t jobs : {1, 2, 5}) {
    SweepDatabase database = *SweepDatabase::open("");
    ASSERT_TRUE(run_sweep(plan, database, {}, {.jobs = jobs}));
    all.push_back(contents(plan, database));
  }
  EXPECT_EQ(all[1], all[0]);
  EXPECT_EQ(all[2], all[0]);
}

TEST(RunSweep, GoesOnWhereItWasInterruptedAndDoesNothingTwice) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, kSixPoints);
  SweepDatabase whole = *SweepDatabase::open("");
  ASSERT_TRUE(run_sweep(plan, whole, {}, {}));
  const std::string file = specs.folder() / "runs.sqlite";
  std::atomic<bool> cancel = false;
  const SweepControl ends_after_two{.cancel = &cancel, .progress = [&](const SweepProgress& now) {
                                      cancel = now.n_done - now.n_known >= 2;
                                    }};
  std::vector<std::size_t> n_known;
  for (int call = 0; call < 3; ++call) {
    cancel = false;
    SweepDatabase database = *SweepDatabase::open(file);
    const auto outcome = run_sweep(plan, database, {}, ends_after_two);
    ASSERT_TRUE(outcome);
    n_known.push_back(outcome->n_known);
  }
  EXPECT_EQ(n_known, (std::vector<std::size_t>{0, 2, 4}));
  const SweepDatabase database = *SweepDatabase::open(file);
  EXPECT_EQ(contents(plan, database), contents(plan, whole));
}

TEST(RunSweep, SearchesEqualPointsOnce) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, {"BUFFER=64B,512bit"});
  SweepDatabase database = *SweepDatabase::open("");
  std::size_t n_running = 0;
  const SweepControl control{.jobs = 2, .progress = [&](const SweepProgress& now) {
                               n_running = std::max(n_running, now.running.size());
                             }};
  EXPECT_EQ(run_sweep(plan, database, {}, control)->n_done, 2u);
  EXPECT_EQ(n_running, 1u);
  EXPECT_EQ(sweep_table(plan, database)->rows.size(), 2u);
}

TEST(RunSweep, KeepsWhyAPointHasNoMapping) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, {"BUFFER=1B,64B"});  // three values do not fit into 1 B
  SweepDatabase database = *SweepDatabase::open("");
  ASSERT_TRUE(run_sweep(plan, database, {}, {}));
  const SweepTable table = *sweep_table(plan, database);
  EXPECT_EQ(table.rows[0][*table.find_column("status")].text, "no_mapping");
  EXPECT_THAT(table.rows[0][*table.find_column("reason")].text, HasSubstr("Buffer"));
  EXPECT_EQ(table.rows[1][*table.find_column("status")].text, "ok");
}

TEST(SweepTable, PlotsALineForEachValueOfWhatElseVaries) {
  const SmallSpecs specs;
  const SweepPlan plan = planned(specs, {"M=16,32", "BUFFER=64B..512B:x2"});
  SweepDatabase database = *SweepDatabase::open("");
  ASSERT_TRUE(run_sweep(plan, database, {}, {}));
  const SweepTable table = *sweep_table(plan, database);
  const auto commands = plot_commands(table, "BUFFER", "edp_js", "it's.svg");
  ASSERT_TRUE(commands);
  EXPECT_THAT(*commands, HasSubstr("title 'M 16'"));
  EXPECT_THAT(*commands, HasSubstr("title 'M 32'"));
  EXPECT_THAT(*commands, HasSubstr("set logscale x 2"));  // 64 … 512 is 8 times
  EXPECT_THAT(*commands, HasSubstr("set output 'it''s.svg'"));
  const auto unknown = plot_commands(table, "BUFFR", "edp_js", "x.svg");
  EXPECT_EQ(unknown.error().front().hint, "did you mean `BUFFER`?");
}

}  // namespace
}  // namespace sluice
