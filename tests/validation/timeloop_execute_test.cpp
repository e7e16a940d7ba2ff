// What the import of each Timeloop reference case writes, with every factor cut down to 2 or 3 so
// that it can be run literally: the executor counts what the model says.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "report/document/disagreements.h"
#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"
#include "support/folders.h"
#include "support/golden_count.h"
#include "validation/golden_cases.h"

namespace sluice::testing {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

int cut(int factor) { return factor <= 3 ? factor : factor % 2 == 0 ? 2 : 3; }

/// A mapping with smaller factors, and the size of each dimension that they add up to.
struct SmallMapping {
  std::string text;
  std::map<std::string, int> sizes;
};

SmallMapping small_mapping(const std::string& text) {
  const std::regex factor("([A-Z]+)=([0-9]+)");
  SmallMapping small;
  auto from = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), factor), end; at != end; ++at) {
    const int size = cut(std::stoi((*at)[2]));
    small.text.append(from, (*at)[2].first);
    small.text += std::to_string(size);
    from = (*at)[2].second;
    small.sizes.try_emplace((*at)[1], 1).first->second *= size;
  }
  small.text.append(from, text.end());
  return small;
}

std::string small_problem(std::string text, const std::map<std::string, int>& sizes) {
  const std::size_t instance = text.find("instance:");
  std::string shape = text.substr(0, instance), sizes_text = text.substr(instance);
  for (const auto& [dimension, size] : sizes)
    sizes_text = std::regex_replace(sizes_text, std::regex("(\\n +" + dimension + ": )[0-9]+"),
                                    "$01" + std::to_string(size));
  return shape + sizes_text;
}

class SmallTimeloopCase : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SmallTimeloopCase, RunsAsTheModelCounts) {
  const auto& folder = GetParam().folder;
  const SmallMapping small = small_mapping(text_of(folder / "map.yaml"));
  const std::string name = test_name(GetParam());
  const auto imported = import_specs(
      {(folder / "arch.yaml").string(),
       written(name + "_prob.yaml", small_problem(text_of(folder / "prob.yaml"), small.sizes)),
       written(name + "_map.yaml", small.text)},
      {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_NE(imported->mapping.find("incremental: true"), std::string::npos);
  const auto specs = load_specs_from_text({{"workload.yaml", imported->workload},
                                           {"arch.yaml", imported->arch},
                                           {"mapping.yaml", imported->mapping}},
                                          {});
  ASSERT_TRUE(specs) << to_string(specs.error());
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem) << to_string(problem.error());
  const auto cost = evaluate(*problem, specs->mappings.at(0));
  ASSERT_TRUE(cost) << cost.error().front().message;
  const Execution executed = execute(*specs->workload, *specs->arch, specs->mappings.at(0));
  EXPECT_TRUE(executed.is_legal()) << executed.complaints.front().message;
  EXPECT_GT(executed.numbers.compared, 0);
  EXPECT_EQ(cli::disagreements(*problem, cost, executed), std::vector<std::string>{});
  count_golden_case();
}

INSTANTIATE_TEST_SUITE_P(Golden, SmallTimeloopCase,
                         ::testing::ValuesIn(golden_cases({"timeloop"},
                                                          {"arch.yaml", "prob.yaml", "map.yaml"})),
                         [](const auto& entry) { return test_name(entry.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SmallTimeloopCase);

}  // namespace
}  // namespace sluice::testing
