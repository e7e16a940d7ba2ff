#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "sluice/sweep/sweep_table.h"
#include "small_specs.h"
#include "sweep/run/filled_fanouts.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using testing::SmallSpecs;
using testing::TemporaryFolder;

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

constexpr const char* kTwoProducts = R"(
workload:
  rank_sizes: {M: 64, K: 32, N: 64, L: 32}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,k] * B[k,n]", "Z[m,l] = T[m,n] * C[n,l]"]
)";

/// Lanes that must be used as well as they can.
constexpr const char* kDemandingArch = R"(
variables: {BUFFER: 1 KiB, RATE: 8 GB/s}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 10 pJ/bit, throughput: RATE}, {name: write, energy: 10 pJ/bit, throughput: RATE}]}
  - !Memory {name: Buffer, size: BUFFER, tensors: {keep: All},
             actions: [{name: read, energy: 1 pJ/bit, throughput: 64 GB/s}, {name: write, energy: 1 pJ/bit, throughput: 64 GB/s}]}
  - !Compute {name: MAC, spatial: [{name: lane, fanout: 4, min_usage: 1}],
              actions: [{name: compute, energy: 0.5 pJ, throughput: 1 GHz}]}
)";

// The mapping of a neighbour spares the search the first look around, and changes nothing of what
// it finds, to the last bit; also where fanouts ask for usage.
TEST(RunSweep, FindsTheSameFromTheMappingOfANeighbour) {
  const TemporaryFolder folder;
  SweepRequest request;
  request.workloads = {folder.write("w.yaml", kTwoProducts)};
  request.architectures = {folder.write("a.yaml", kDemandingArch)};
  request.grid = {*varied_field("BUFFER=512B..4KiB:x2"), *varied_field("RATE=4GB/s,8GB/s,16GB/s")};
  request.options = {{"threads", "1"}};
  const SweepPlan plan = *plan_sweep(request, {});
  std::vector<std::string> mappings;
  double from_neighbours = 0, from_nothing = 0;
  for (const SweepPoint& point : plan.points) {
    const SweepInputs inputs = *sweep_inputs(plan.request, point, {});
    const auto alone = search_point(inputs, "", nullptr);
    mappings.push_back(alone->mappings.front().mapping);
    if (!point.donor) continue;
    const auto started = search_point(inputs, mappings[*point.donor], nullptr);
    EXPECT_EQ(started->mappings, alone->mappings);
    EXPECT_EQ(started->bound, alone->bound);
    EXPECT_EQ(started->guarantee, "optimal");
    from_neighbours += started->timing.mappings_evaluated;
    from_nothing += alone->timing.mappings_evaluated;
  }
  EXPECT_LT(from_neighbours, from_nothing);
}

TEST(FilledFanouts, AreThoseThatAMappingUsesAsMuchAsTheyAskFor) {
  const TemporaryFolder folder;
  const std::string text = R"(
workload:
  rank_sizes: {M: 8, K: 2}
  bits_per_value: {All: 8}
  einsums: ["Z[m] = A[m,k]"]
)";
  const auto fills = [&](int tile) {
    const std::string mapping = fmt::format(R"(
mapping:
  nodes:
  - !Storage {{tensors: [A, Z], component: DRAM}}
  - !Storage {{tensors: [A, Z], component: Buffer}}
  - !Temporal {{rank_variable: m, tile_shape: {0}}}
  - !Spatial {{rank_variable: m, tile_shape: 1, component: MAC, name: lane}}
  - !Temporal {{rank_variable: k, tile_shape: 1}}
  - !Compute {{einsum: Z, component: MAC}}
)",
                                            tile);
    const Specs specs =
        *load_specs_from_text({{"w", text}, {"a", kDemandingArch}, {"m", mapping}}, {});
    const BoundProblem problem = *bind(*specs.workload, *specs.arch);
    EXPECT_TRUE(evaluate(problem, specs.mappings.front()));
    return fills_fanouts(problem, specs.mappings.front());
  };
  EXPECT_TRUE(fills(4));   // 4 of 4 lanes
  EXPECT_FALSE(fills(2));  // 2 of 4
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
