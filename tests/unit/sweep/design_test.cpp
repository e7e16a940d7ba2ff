#include "sluice/sweep/design.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sluice/sweep/sweep_database.h"
#include "small_specs.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using testing::SmallSpecs;

const std::vector<std::string> kGrid = {"BUFFER=32B..512B:x2", "arch.MAC.lane.fanout=1,2,4,8",
                                        "arch.DRAM.read.throughput=4GB/s,16GB/s"};

DesignRequest request_of(const SmallSpecs& specs, const std::string& objective) {
  DesignRequest request;
  request.workloads = {{specs.workload(), {}, 1}, {specs.workload(), {{"M", "32"}}, 3}};
  request.architecture = specs.arch();
  for (const std::string& text : kGrid) request.variables.push_back(*varied_field(text));
  request.options = {{"threads", "1"}, {"objective", objective}};
  return request;
}

/// The least objective of all designs within the budgets, each searched.
double exhaustive(const DesignRequest& request, const SmallSpecs& specs) {
  std::vector<std::vector<SweepRun>> runs;
  for (const DesignWorkload& workload : request.workloads) {
    SweepRequest sweep = specs.request(kGrid);
    sweep.options = request.options;
    for (const auto& setting : workload.settings) sweep.settings.push_back(setting);
    const SweepPlan plan = *plan_sweep(sweep, {});
    SweepDatabase database = *SweepDatabase::open("");
    EXPECT_TRUE(run_sweep(plan, database, {}, {}));
    auto& here = runs.emplace_back();
    for (const SweepPoint& point : plan.points) here.push_back(**database.find(point.key));
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < runs.front().size(); ++d) {
    double objective = 0;
    bool is_within = true;
    for (std::size_t w = 0; w < runs.size(); ++w) {
      const SweepRun& run = runs[w][d];
      const SweepMapping& best = run.mappings.front();
      const std::string& name = request.options.at("objective");
      objective += request.workloads[w].weight * (name == "energy"    ? best.energy_j
                                                  : name == "latency" ? best.latency_s
                                                                      : best.edp_js);
      is_within = is_within && (!request.area_budget_m2 || *run.area_m2 <= *request.area_budget_m2);
      is_within =
          is_within && (!request.power_budget_w || *best.power_w <= *request.power_budget_w);
    }
    if (is_within) least = std::min(least, objective);
  }
  return least;
}

void expect_best(const DesignRequest& request, const SmallSpecs& specs, std::size_t most_looks) {
  const auto result = design_search(request, {}, {});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(result->is_proven);
  EXPECT_EQ(result->n_designs, 40u);  // 5 × 4 × 2
  const double least = exhaustive(request, specs);
  if (!result->best) {
    EXPECT_TRUE(std::isinf(least));
    return;
  }
  EXPECT_NEAR(result->best->objective / least, 1, 1e-12);
  EXPECT_LE(result->n_looks, most_looks);
}

TEST(Design, IsTheBestOfAllForEveryObjective) {
  const SmallSpecs specs;
  for (const char* objective : {"energy", "latency", "edp"}) {
    SCOPED_TRACE(objective);
    expect_best(request_of(specs, objective), specs, 13);  // a third of the designs
  }
}

TEST(Design, KeepsToABudgetOfArea) {
  const SmallSpecs specs;
  DesignRequest request = request_of(specs, "latency");
  for (const double buffers : {40, 150, 300}) {  // 1e-9 m² a byte, and 1e-8 m² each lane
    SCOPED_TRACE(buffers);
    request.area_budget_m2 = buffers * 1e-9;
    expect_best(request, specs, 13);
  }
  request.area_budget_m2 = 1e-9;
  const auto none = design_search(request, {}, {});
  EXPECT_FALSE(none->best);
  EXPECT_TRUE(none->is_proven);
  EXPECT_EQ(none->n_over_area, 40u);
  EXPECT_GT(*none->least_area_m2, 1e-9);
  EXPECT_EQ(none->area_budget_m2, 1e-9);
  EXPECT_EQ(none->n_searches, 0u);
}

TEST(Design, KeepsToABudgetOfPower) {
  const SmallSpecs specs;
  DesignRequest request = request_of(specs, "edp");
  const auto free = design_search(request, {}, {});
  const double power = std::max(*free->best->outcomes[0].power_w, *free->best->outcomes[1].power_w);
  for (const double share : {0.9, 0.5, 0.001}) {
    SCOPED_TRACE(share);
    request.power_budget_w = share * power;
    expect_best(request, specs, 40);  // what the best mapping draws is known only after its search
  }
  const auto none = design_search(request, {}, {});
  EXPECT_EQ(none->n_over_power, 40u);
  EXPECT_GT(*none->least_power_w, *request.power_budget_w);
  EXPECT_LE(*none->least_power_w, power * (1 + 1e-12));
}

TEST(Design, EndsWithAGapWhereItIsInterrupted) {
  const SmallSpecs specs;
  std::atomic<bool> cancel = false;
  const DesignControl control{.cancel = &cancel, .progress = [&](const DesignProgress& now) {
                                cancel = now.best.has_value();
                              }};
  DesignRequest request = request_of(specs, "edp");
  request.workloads.resize(1);
  const auto result = design_search(request, {}, control);
  EXPECT_TRUE(result->is_cancelled);
  ASSERT_TRUE(result->best);
  EXPECT_LE(result->bound, result->best->objective);
}

TEST(Design, WritesTheBestWithAllThatItsComponentsHave) {
  const SmallSpecs specs;
  DesignRequest request = request_of(specs, "edp");
  request.area_budget_m2 = 1;
  const auto result = design_search(request, {}, {});
  ASSERT_TRUE(result && result->best);
  const auto read = load_specs_from_text({{"arch.yaml", result->best->arch}}, {});
  ASSERT_TRUE(read) << to_string(read.error());
  LoadOptions options;
  for (const auto& [name, value] : result->best->settings) options.variables[name] = value;
  const auto given = load_specs({specs.arch()}, options);
  ASSERT_TRUE(given) << to_string(given.error());
  EXPECT_EQ(to_yaml(*read->arch), to_yaml(*given->arch));  // areas, leakage, energies
  EXPECT_THAT(result->best->arch, HasSubstr("area: "));
}

TEST(Design, RefusesOneValueOfAVariable) {
  const SmallSpecs specs;
  DesignRequest request = request_of(specs, "edp");
  request.settings = {{"BUFFER", "64B"}};
  EXPECT_EQ(design_search(request, {}, {}).error().front().message,
            "`BUFFER` varies, and `set` gives it one value, 64B");
  request = request_of(specs, "edp");
  request.variables.push_back(*varied_field("BUFFER=1KiB"));
  EXPECT_THAT(design_search(request, {}, {}).error().front().message,
              HasSubstr("`BUFFER` varies twice"));
  request = request_of(specs, "edp");
  request.variables.push_back(*varied_field("arch.nodes.Buffer.size=64B,128B"));
  request.variables.push_back(*varied_field("arch.Buffer.size=64B,128B"));
  EXPECT_THAT(design_search(request, {}, {}).error().front().message,
              HasSubstr("changes nothing beside"));
}

TEST(Design, ReadsItsFile) {
  const SmallSpecs specs;
  const auto request = read_design(specs.folder().write("design.yaml", R"(
design:
  workloads: [w.yaml, {workload: w.yaml, set: {M: 32}, weight: 3}]
  architecture: a.yaml
  variables: {BUFFER: 32B..512B:x2, arch.MAC.lane.fanout: [1, 2]}
  budgets: {area: 2 mm2, power: 3 W}
  options: {objective: energy}
)"),
                                   {});
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->workloads[1].weight, 3);
  EXPECT_EQ(request->variables[0].values.size(), 5u);
  EXPECT_DOUBLE_EQ(*request->area_budget_m2, 2e-6);
  EXPECT_EQ(request->power_budget_w, 3);
}

TEST(Design, SaysWhatIsWrong) {
  const SmallSpecs specs;
  const auto file = read_design(specs.folder().write("design.yaml", R"(
design:
  workloads: []
  variabels: {BUFFER: 32B}
  budgets: {area: 3 W}
)"),
                                {});
  ASSERT_FALSE(file);
  EXPECT_THAT(to_string(file.error()), HasSubstr("did you mean 'variables'?"));
  EXPECT_THAT(to_string(file.error()), HasSubstr("the list has no workloads"));
  DesignRequest request = request_of(specs, "energy,latency");
  const auto several = design_search(request, {}, {});
  EXPECT_EQ(several.error().front().message, "a design search needs exactly one objective");
}

}  // namespace
}  // namespace sluice
