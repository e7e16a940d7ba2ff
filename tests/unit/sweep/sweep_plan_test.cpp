#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "small_specs.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::SmallSpecs;

std::string first_message(const Diagnostics& diagnostics) {
  return diagnostics.empty() ? "" : diagnostics.front().message;
}

TEST(SweepPlan, HasThePointsOfTheGridTheLastFieldFastest) {
  const SmallSpecs specs;
  const auto plan = plan_sweep(specs.request({"M=16,32", "BUFFER=64B..256B:x2"}), {});
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->points.size(), 6u);  // 2 × 3
  EXPECT_THAT(plan->points[1].settings, ElementsAre(Pair("M", "16"), Pair("BUFFER", "128B")));
  EXPECT_THAT(plan->points[3].settings, ElementsAre(Pair("M", "32"), Pair("BUFFER", "64B")));
}

TEST(SweepPlan, DonorsAreEarlierPointsOfTheSameWorkload) {
  const SmallSpecs specs;
  const auto plan = plan_sweep(specs.request({"BUFFER=64B..512B:x2", "M=16,32"}), {});
  ASSERT_TRUE(plan);
  // Buffers 0 … 3, each with two workloads: the place without its lowest bit is 0, 0, 2.
  EXPECT_EQ(plan->points[0].donor, std::nullopt);
  EXPECT_EQ(plan->points[2].donor, 0u);
  EXPECT_EQ(plan->points[4].donor, 0u);
  EXPECT_EQ(plan->points[6].donor, 4u);
  EXPECT_EQ(plan->points[7].donor, 5u);
}

TEST(SweepPlan, KeysAreOfWhatSpecsSayAndNotOfHow) {
  const SmallSpecs specs;
  const auto by_variable = plan_sweep(specs.request({"BUFFER=64B,512bit"}), {});
  ASSERT_TRUE(by_variable);
  EXPECT_EQ(by_variable->points[0].key, by_variable->points[1].key);
  SweepRequest energy = specs.request();
  energy.options["objective"] = "energy";
  EXPECT_NE(plan_sweep(energy, {})->points[0].key, by_variable->points[0].key);
  SweepRequest threads = specs.request();
  threads.options["threads"] = "2";
  EXPECT_EQ(plan_sweep(threads, {})->points[0].key, by_variable->points[0].key);
}

TEST(SweepPlan, TellsAMistakeOfItsLastPointBeforeTheFirstSearch) {
  const SmallSpecs specs;
  const auto unknown = plan_sweep(specs.request({"arch.Bufer.size=64B,128B"}), {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(first_message(unknown.error()), HasSubstr("'arch' has no 'Bufer'"));
  EXPECT_THAT(unknown.error().front().hint, HasSubstr("did you mean 'Buffer'?"));
  EXPECT_THAT(unknown.error().front().location.file, HasSubstr("--vary arch.Bufer.size=64B"));
  EXPECT_FALSE(plan_sweep(specs.request({"arch.Buffer.size=64B,many"}), {}));
  const auto many = plan_sweep(specs.request({"M=1..200:+1", "BUFFER=1..200:+1"}), {});
  ASSERT_FALSE(many);
  EXPECT_EQ(first_message(many.error()), "the sweep has 40000 points, more than 10000");
}

TEST(SweepPlan, RefusesAFieldThatVariesTwice) {
  const SmallSpecs specs;
  const auto twice = plan_sweep(specs.request({"M=4,8", "BUFFER=64B,128B", "M=16"}), {});
  ASSERT_FALSE(twice);
  const Diagnostic& mistake = twice.error().front();
  EXPECT_EQ(mistake.location.file, "--vary M=16");
  EXPECT_EQ(mistake.message, "`M` varies twice: `--vary M=4,8` gives it values, too");
  EXPECT_EQ(mistake.hint, "give all values at once: M=4,8,16");
}

TEST(SweepPlan, RefusesOneValueOfWhatVaries) {
  const SmallSpecs specs;
  SweepRequest request = specs.request({"M=4,8"});
  request.settings = {{"M", "64"}};
  const auto both = plan_sweep(request, {});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().front().location.file, "--vary M=4,8");
  EXPECT_EQ(first_message(both.error()), "`M` varies, and `set` gives it one value, 64");
}

TEST(SweepPlan, LetsPointsOfAListDifferFromTheValueOfTheOthers) {
  const SmallSpecs specs;
  SweepRequest request = specs.request();
  request.settings = {{"M", "64"}};
  request.list = {{{"M", "8"}}, {{"BUFFER", "128B"}}};
  EXPECT_TRUE(plan_sweep(request, {}));
  request.list.pop_back();  // now no point has 64
  EXPECT_EQ(first_message(plan_sweep(request, {}).error()),
            "`M` is in every point of the list, and `set` gives it one value, 64");
}

TEST(SweepPlan, RefusesAVariableBesideThePathThatTakesItsPlace) {
  const SmallSpecs specs;
  SweepRequest request = specs.request({"M=4,8"});
  request.settings = {{"workload.rank_sizes.M", "16"}};
  const auto hidden = plan_sweep(request, {});
  ASSERT_FALSE(hidden);
  EXPECT_EQ(first_message(hidden.error()),
            "`M` changes nothing beside `workload.rank_sizes.M`, which takes its place");
  EXPECT_FALSE(plan_sweep(specs.request({"M=4,8", "workload.rank_sizes.M=16,32"}), {}));
  EXPECT_FALSE(plan_sweep(
      specs.request({"arch.Buffer.area=1e-9,2e-9", "arch.nodes.Buffer.area=3e-9,4e-9"}), {}));
  // What the buffer's energy depends on still varies.
  EXPECT_TRUE(plan_sweep(specs.request({"BUFFER=64B,128B", "arch.Buffer.size=1KiB"}), {}));
  EXPECT_TRUE(plan_sweep(specs.request({"M=16,32", "arch.Buffer.size=1KiB,2KiB"}), {}));
}

TEST(SweepPlan, CountsNoGridWhereThereIsNone) {
  const SmallSpecs specs;
  SweepRequest request = specs.request();
  request.draws = {{.n_samples = 20'000, .ranges = {{"M", "4..64"}}}};
  EXPECT_EQ(first_message(plan_sweep(request, {}).error()),
            "the sweep has 20000 points, more than 10000");
  EXPECT_EQ(plan_sweep(request, {}).error().front().hint, "draw fewer, or split it");
  request.draws.front().n_samples = 3;
  EXPECT_EQ(plan_sweep(request, {})->points.size(), 3u);
}

SweepRequest read(const SmallSpecs& specs, const std::string& text) {
  const auto request = read_sweep(specs.folder().write("sweep.yaml", text), {});
  EXPECT_TRUE(request) << to_string(request.error());
  return request ? *request : SweepRequest{};
}

TEST(SweepFile, ListsPointsBesideTheGrid) {
  const SmallSpecs specs;
  const SweepRequest request = read(specs, R"(
sweep:
  workloads: w.yaml
  architectures: [a.yaml]
  set: {arch.MAC.lane.fanout: 2}
  grid: {BUFFER: 64B..128B:x2, M: [16, 32]}
  list: [{BUFFER: 1KiB}]
  options: {objective: energy}
)");
  EXPECT_EQ(request.options.at("objective"), "energy");
  const auto plan = plan_sweep(request, {});
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->points.size(), 5u);  // 2 × 2 + 1
  EXPECT_THAT(plan->points[4].settings, ElementsAre(Pair("BUFFER", "1KiB")));
}

TEST(SweepFile, ALatinHypercubeHasOneSampleInEveryPartOfEachRange) {
  const SmallSpecs specs;
  const SweepRequest request = read(specs, R"(
sweep:
  workloads: w.yaml
  architectures: a.yaml
  latin_hypercube: {samples: 8, seed: 3, ranges: {BUFFER: 64B..1024B, M: "16,32"}}
)");
  const auto plan = plan_sweep(request, {});
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::set<int> parts;
  int n_small = 0;
  for (const SweepPoint& point : plan->points) {
    parts.insert(static_cast<int>((std::stod(point.settings[0].second) - 64) / 120.001));
    n_small += point.settings[1].second == "16" ? 1 : 0;
  }
  EXPECT_EQ(parts.size(), 8u);  // (1024 − 64) / 8 = 120
  EXPECT_EQ(n_small, 4);        // the lower half of the way
  EXPECT_EQ(plan_sweep(request, {})->key, plan->key);
}

TEST(SweepFile, SaysWhereOneValueIsGivenToWhatVaries) {
  const SmallSpecs specs;
  const auto request = read_sweep(specs.folder().write("sweep.yaml", R"(
sweep:
  workloads: w.yaml
  set: {M: 64}
  grid: {BUFFER: [64B], M: [4, 8]}
)"),
                                  {});
  ASSERT_FALSE(request);
  EXPECT_THAT(to_string(request.error()),
              HasSubstr("sweep.yaml:5:25: error: `M` varies, and `set` gives it one value, 64"));
}

TEST(SweepFile, SaysWhereTheFieldStandsThatACommandVariesAgain) {
  const SmallSpecs specs;
  SweepRequest request = read(specs, R"(
sweep:
  workloads: w.yaml
  architectures: a.yaml
  grid: {M: [4, 8]}
)");
  request.grid.push_back(*varied_field("M=16"));
  EXPECT_THAT(first_message(plan_sweep(request, {}).error()), HasSubstr("sweep.yaml:5:10 gives"));
}

TEST(SweepFile, SaysWhatIsWrongWithItsLines) {
  const SmallSpecs specs;
  const auto request = read_sweep(specs.folder().write("sweep.yaml", R"(
sweep:
  workloads: nothing.yaml
  gird: {M: [1]}
  random: {samples: 0, ranges: {M: 9..1}}
  options: {objectiv: edp}
)"),
                                  {});
  ASSERT_FALSE(request);
  const std::string all = to_string(request.error());
  EXPECT_THAT(all, HasSubstr("'nothing.yaml' is no file"));
  EXPECT_THAT(all, HasSubstr("did you mean 'grid'?"));
  EXPECT_THAT(all, HasSubstr("`9..1` has its ends in the wrong order"));
  EXPECT_THAT(all, HasSubstr("there is no search option 'objectiv'"));
  EXPECT_THAT(all, HasSubstr("sweep.yaml:5:"));
}

}  // namespace
}  // namespace sluice
