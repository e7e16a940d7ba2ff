// Mappings priced by AccelForge 1.0.467 (repository commit 1c1929c28dbf), the reference
// implementation of the FFM mapper: the model must give the same counts, energies and latencies.
// Tolerance: counts equal after rounding to float32 (the reference's precision), energies and
// latencies within 1e-6, smallest accepted memory sizes exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"
#include "support/folders.h"
#include "support/golden_count.h"
#include "validation/golden_cases.h"

namespace sluice::testing {
namespace {

using Json = nlohmann::json;
using Account = std::map<std::string, double>;

constexpr double kRelativeTolerance = 1e-6;

struct Priced {
  GoldenSpecs specs;
  BoundProblem problem;
  Cost cost;
};

Priced price(const GoldenCase& golden) {
  GoldenSpecs specs = load_golden(golden, {"workload.yaml", "arch.yaml", "mapping.yaml"});
  auto problem = bind(specs.workload, specs.arch);
  if (!problem) throw std::runtime_error(to_string(problem.error()));
  if (specs.mappings.size() != 1) throw std::runtime_error("expected one mapping");
  const auto cost = evaluate(*problem, specs.mappings[0]);
  if (!cost) {
    std::string text;
    for (const Violation& violation : cost.error()) text += violation.message + "\n";
    throw std::runtime_error(text);
  }
  return {std::move(specs), std::move(*problem), *cost};
}

Account actions_of(const Priced& priced) {
  Account account;
  for (const EnergyRow& row : priced.cost.energy) {
    if (row.action == "leak") continue;
    const std::string tensor = row.tensor ? priced.specs.workload[*row.tensor].name : "None";
    account[priced.specs.workload[row.einsum].name + "|" + priced.specs.arch[row.component].name +
            "|" + tensor + "|" + row.action] += row.actions;
  }
  return account;
}

Account energies_of(const Priced& priced) {
  Account account;
  for (const EnergyRow& row : priced.cost.energy)
    account[priced.specs.workload[row.einsum].name + "|" + priced.specs.arch[row.component].name +
            "|" + row.action] += row.energy_j;
  return account;
}

Account latencies_of(const Priced& priced) {
  Account account;
  for (const LatencyRow& row : priced.cost.latency)
    account[priced.specs.workload[row.einsum].name + "|" + priced.specs.arch[row.component].name] =
        row.latency_s;
  return account;
}

bool is_near(double actual, double expected) {
  return std::abs(actual - expected) <= kRelativeTolerance * std::abs(expected);
}

bool is_same_count(double actual, double expected) {
  return static_cast<float>(actual) == static_cast<float>(expected);
}

/// What only one side lists must be zero.
template <class Same>
void expect_same(Account actual, const Json& expected, const std::string& what, Same same) {
  for (const auto& [key, value] : expected.items()) {
    const double wanted = value.template get<double>();
    EXPECT_TRUE(same(actual[key], wanted))
        << what << " of " << key << ": " << actual[key] << ", expected " << wanted;
    actual.erase(key);
  }
  for (const auto& [key, value] : actual)
    EXPECT_EQ(value, 0) << what << " of " << key << " is not in the reference";
}

void expect_same_account(const Priced& priced, const Json& expected) {
  const Json account = expected.contains("breakdown_of_mapping_yaml")
                           ? expected["breakdown_of_mapping_yaml"]
                           : expected;
  const auto section = [&](const char* key) { return account.value(key, Json()); };
  if (const Json actions = section("actions_per_einsum|component|tensor|action");
      !actions.is_null())
    expect_same(actions_of(priced), actions, "actions", is_same_count);
  if (const Json energies = section("energy_J_per_einsum|component|action"); !energies.is_null())
    expect_same(energies_of(priced), energies, "energy", is_near);
  if (const Json latencies = section("latency_s_per_einsum|component"); !latencies.is_null())
    expect_same(latencies_of(priced), latencies, "latency", is_near);
}

void expect_same_totals(const Priced& priced, const Json& expected) {
  Json totals = expected;
  if (expected.contains("mapping_file"))
    totals = expected["mapping_file"].value("evaluated_with_repository_head", expected);
  EXPECT_TRUE(is_near(priced.cost.energy_j, totals["energy_J"].get<double>()))
      << priced.cost.energy_j << ", expected " << totals["energy_J"];
  EXPECT_TRUE(is_near(priced.cost.latency_s, totals["latency_s"].get<double>()))
      << priced.cost.latency_s << ", expected " << totals["latency_s"];
}

/// The smallest size that the reference accepts is what the model says is occupied.
void expect_same_sizes(const Priced& priced, const Json& expected) {
  const Json sizes = expected.value("min_size_bits_for_this_mapping", Json::object());
  for (const auto& [memory, bits] : sizes.items()) {
    for (const OccupancyRow& row : priced.cost.occupancy)
      if (priced.specs.arch[row.component].name == memory)
        EXPECT_EQ(row.peak_bits, bits.get<double>()) << memory;
  }
}

class GoldenMapping : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenMapping, IsPricedAsByTheReference) {
  const Priced priced = price(GetParam());
  const Json expected = expected_of(GetParam());
  expect_same_totals(priced, expected);
  expect_same_account(priced, expected);
  expect_same_sizes(priced, expected);
  count_golden_case();
}

/// Mappings that the reference's mapper chose; the random ones do not obey `keep`.
class GoldenChoice : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenChoice, KeepsWhatTheArchitectureAsksFor) {
  const Priced priced = price(GetParam());
  for (const Violation& violation : keep_violations(priced.problem, priced.specs.mappings[0]))
    ADD_FAILURE() << violation.message;
}

INSTANTIATE_TEST_SUITE_P(AccelForge, GoldenChoice,
                         ::testing::ValuesIn(golden_cases({"accelforge"},
                                                          {"mapping.yaml", "expected.json"})),
                         [](const auto& info) { return test_name(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenChoice);

INSTANTIATE_TEST_SUITE_P(AccelForge, GoldenMapping,
                         ::testing::ValuesIn(golden_cases({"accelforge", "accelforge_mappings"},
                                                          {"mapping.yaml", "expected.json"})),
                         [](const auto& info) { return test_name(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenMapping);

TEST(GoldenMappings, AreThere) {
  if (!reference_data_dir()) GTEST_SKIP() << "no reference data; set SLUICE_GOLDEN_DIR";
  EXPECT_FALSE(golden_cases({"accelforge"}, {"mapping.yaml"}).empty());
}

}  // namespace
}  // namespace sluice::testing
