// Cases of timeloop-model 3.0.3 (`timeloop/` of the reference data: architecture, problem and
// mapping in its own format, and its answer), imported and priced. Access counts must be equal but
// for what docs/differences-timeloop.md names; energy with Timeloop's energies per action, and
// within 0.1 %; cycles are equal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/folders.h"
#include "support/golden_count.h"
#include "support/run_program.h"
#include "validation/golden_cases.h"

namespace sluice::testing {
namespace {

using Json = nlohmann::json;
/// Accesses by level, tensor (empty: computes) and action.
using Counts = std::map<std::tuple<std::string, std::string, std::string>, double>;

constexpr double kTolerance = 0.001;  ///< of energies; Timeloop prints five digits of them
/// Of the energy of the networks alone: Timeloop charges routers of whole hops of the mean route,
/// and one at the entry.
constexpr double kNetworkTolerance = 0.02;

double number(const Json& text) { return std::stod(text.get<std::string>()); }

Json summary_of(const GoldenCase& golden) {
  std::ifstream file(golden.folder / "summary.json");
  return Json::parse(file);
}

Counts reference_counts(const Json& summary) {
  Counts counts;
  for (const Json& level : summary["levels"]) {
    const std::string name = level["name"];
    if (level["top"].contains("Computes (total)"))
      counts[{name, "", "compute"}] = number(level["top"]["Computes (total)"]);
    for (const auto& [tensor, of_tensor] : level["ds"].items()) {
      const double instances = number(of_tensor["Utilized instances (max)"]);
      const auto all = [&](const char* what) {
        return instances * number(of_tensor[fmt::format("Scalar {} (per-instance)", what)]);
      };
      counts[{name, tensor, "read"}] = all("reads");
      counts[{name, tensor, "write"}] = all("fills") + all("updates");
    }
  }
  return counts;
}

/// From `stats.txt`, in J: hops and the transfers between neighbours, over all networks. None where
/// there is no such file.
std::optional<double> reference_network_energy(const GoldenCase& golden) {
  std::ifstream file(golden.folder / "stats.txt");
  if (!file) return std::nullopt;
  double energy_pj = 0;
  bool in_networks = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "Networks") in_networks = true;
    const bool counts = line.find(" Energy (total)") != std::string::npos ||
                        line.find(" Link transfer energy (total)") != std::string::npos;
    const bool adds_up = line.find("Reduction") != std::string::npos;
    if (in_networks && counts && !adds_up) energy_pj += std::stod(line.substr(line.find(':') + 1));
  }
  return energy_pj * 1e-12;
}

struct Priced {
  Workload workload;
  Arch arch;
  Cost cost;
};

Priced import_and_price(const GoldenCase& golden) {
  const auto file = [&](const char* name) { return (golden.folder / name).string(); };
  ImportOptions options;
  options.energy_file = file("summary.json");
  const auto imported =
      import_specs({file("arch.yaml"), file("prob.yaml"), file("map.yaml")}, options);
  if (!imported) throw std::runtime_error(to_string(imported.error()));
  auto specs = load_specs_from_text({{"workload.yaml", imported->workload},
                                     {"arch.yaml", imported->arch},
                                     {"mapping.yaml", imported->mapping}},
                                    {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) throw std::runtime_error(to_string(problem.error()));
  const auto cost = evaluate(*problem, specs->mappings.at(0));
  if (!cost) throw std::runtime_error(cost.error().front().message);
  return {std::move(*specs->workload), std::move(*specs->arch), *cost};
}

Counts counts_of(const Priced& priced) {
  Counts counts;
  for (const EnergyRow& row : priced.cost.energy)
    if (row.count)
      counts[{priced.arch[row.component].name, row.tensor ? priced.workload[*row.tensor].name : "",
              row.action}] += *row.count;
  return counts;
}

double network_energy(const Priced& priced) {
  double energy_j = 0;
  for (const EnergyRow& row : priced.cost.energy)
    if (std::holds_alternative<Network>(priced.arch[row.component].kind)) energy_j += row.energy_j;
  return energy_j;
}

class TimeloopCase : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(TimeloopCase, HasTheSameAccessesEnergyAndCycles) {
  const Json summary = summary_of(GetParam());
  const Priced priced = import_and_price(GetParam());
  const Counts counts = counts_of(priced);
  for (const auto& [key, expected] : reference_counts(summary)) {
    const auto found = counts.find(key);
    EXPECT_EQ(found == counts.end() ? 0 : found->second, expected)
        << std::get<0>(key) << " " << std::get<1>(key) << " " << std::get<2>(key);
  }
  const double energy_j = number(summary["summary"]["Energy"]) * 1e-6;
  EXPECT_NEAR(priced.cost.energy_j, energy_j, kTolerance * energy_j);
  if (const auto networks_j = reference_network_energy(GetParam())) {
    EXPECT_NEAR(network_energy(priced), *networks_j, kNetworkTolerance * *networks_j);
  }
  const double cycles = number(summary["summary"]["Cycles"]);
  EXPECT_NEAR(priced.cost.latency_s * priced.arch.clock_hz.value(), cycles, 1e-9 * cycles);
  count_golden_case();
}

/// A mapping's directives as constraints, which have the same form.
std::string as_constraints(const std::filesystem::path& mapping) {
  std::ifstream file(mapping);
  std::string text = "mapspace_constraints:\n  targets:\n";
  for (std::string line; std::getline(file, line);)
    if (line != "mapping:") text += "  " + line + "\n";
  return text;
}

// Tiles that Timeloop keeps from step to step are nodes above the loops that do not move them, and
// windows that slide: constrained to a mapping, the search finds what it costs.
TEST_P(TimeloopCase, IsFoundBySearchUnderItsMappingAsConstraints) {
  const auto file = [&](const char* name) { return (GetParam().folder / name).string(); };
  const Priced priced = import_and_price(GetParam());
  const TemporaryFolder folder;
  const std::string constraints =
      folder.write("constraints.yaml", as_constraints(GetParam().folder / "map.yaml"));
  ImportOptions options;
  options.energy_file = file("summary.json");
  const auto imported = import_specs({file("arch.yaml"), file("prob.yaml"), constraints}, options);
  ASSERT_TRUE(imported) << to_string(imported.error());
  const auto specs = load_specs_from_text({{"workload.yaml", imported->workload},
                                           {"arch.yaml", imported->arch},
                                           {"constraints.yaml", imported->constraints}},
                                          {});
  ASSERT_TRUE(specs) << to_string(specs.error());
  const auto is_network = [](const Component& component) {
    return std::holds_alternative<Network>(component.kind);
  };
  if (specs->arch->components.size() != priced.arch.components.size() ||
      std::any_of(specs->arch->components.begin(), specs->arch->components.end(), is_network))
    GTEST_SKIP() << "packed networks, and links that follow from the mapping";
  MapperOptions search;
  search.objectives = {Objective::kEnergy};
  search.constraints = *specs->constraints;
  const auto found = run_mapper(*standard_mappers().find("fused"),
                                *bind(*specs->workload, *specs->arch), search, {});
  ASSERT_TRUE(found) << found.error().reason;
  EXPECT_NEAR(found->mappings.front().cost.energy_j, priced.cost.energy_j,
              1e-12 * priced.cost.energy_j);
}

INSTANTIATE_TEST_SUITE_P(Golden, TimeloopCase,
                         ::testing::ValuesIn(golden_cases(
                             {"timeloop"}, {"arch.yaml", "prob.yaml", "map.yaml", "summary.json"})),
                         [](const auto& entry) { return test_name(entry.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TimeloopCase);

TEST(TimeloopCases, AreThere) {
  if (!reference_data_dir()) GTEST_SKIP() << "the reference data folder is absent";
  EXPECT_FALSE(golden_cases({"timeloop"}, {"summary.json"}).empty());
}

}  // namespace
}  // namespace sluice::testing
