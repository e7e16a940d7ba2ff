#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "golden_cases.h"
#include "same_after_printing.h"
#include "sluice/mapper/registry.h"
#include "sluice/model/evaluate.h"
#include "support/folders.h"
#include "support/golden_count.h"

namespace sluice::testing {
namespace {

/// Cases in which ours is lower than the reference (docs/differences-accelforge.md).
const std::set<std::string> kLower = {"accelforge_random/r035"};

int loop_limit(const nlohmann::json& options, const char* key, int absent) {
  if (!options.contains(key)) return absent;
  return options[key].is_string() ? kUnlimitedLoops : options[key].get<int>();
}

MapperOptions mapper_options(const nlohmann::json& options) {
  MapperOptions result;
  const std::string metric = options.value("metric", "ENERGY_DELAY_PRODUCT");
  result.objectives = {metric == "ENERGY"    ? Objective::kEnergy
                       : metric == "LATENCY" ? Objective::kLatency
                                             : Objective::kEdp};
  result.max_fused_loops = loop_limit(options, "max_fused_loops", kUnlimitedLoops);
  result.max_fused_loops_per_rank = loop_limit(options, "max_fused_loops_per_rank_variable", 1);
  result.threads = 2;
  return result;
}

double objective_of(const Cost& cost, Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return cost.energy_j;
    case Objective::kLatency:
      return cost.latency_s;
    case Objective::kEdp:
      return cost.edp_js();
  }
  return cost.edp_js();
}

void expect_close(double ours, double reference, const char* what) {
  EXPECT_LE(std::abs(ours - reference), 1e-6 * std::abs(reference))
      << what << ": " << ours << " against the reference's " << reference;
}

class GoldenSearch : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenSearch, FindsTheReferenceOptimum) {
  const nlohmann::json expected = expected_of(GetParam());
  if (!expected.contains("objective") || !expected["objective"].is_number()) GTEST_SKIP();
  const GoldenSpecs specs = load_golden(GetParam(), {"workload.yaml", "arch.yaml"});
  const auto problem = bind(specs.workload, specs.arch);
  ASSERT_TRUE(problem.has_value());
  const MapperOptions options = mapper_options(expected["options"]);
  const auto result = standard_mappers().find("fused")->map(*problem, options, {});
  ASSERT_TRUE(result.has_value()) << result.error().reason;
  count_golden_case();
  expect_same_after_printing(*problem, *result);
  const Cost& cost = result->mappings.at(0).cost;
  const double ours = objective_of(cost, options.objectives[0]);
  const double reference = expected["objective"].get<double>();
  if (kLower.count(GetParam().name) > 0) {
    EXPECT_LT(ours, reference);
    return;
  }
  expect_close(ours, reference, "objective");
  if (options.objectives[0] != Objective::kEdp) return;
  expect_close(cost.energy_j, expected["energy_J"].get<double>(), "energy");
  expect_close(cost.latency_s, expected["latency_s"].get<double>(), "latency");
}

INSTANTIATE_TEST_SUITE_P(AccelForge, GoldenSearch,
                         ::testing::ValuesIn(golden_cases({"accelforge", "accelforge_random"},
                                                          {"expected.json"})),
                         [](const auto& test) { return test_name(test.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenSearch);

}  // namespace
}  // namespace sluice::testing
