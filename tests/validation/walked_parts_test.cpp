// Long workloads of the library, walked in parts: what the parts find is one legal mapping of the
// whole, with no template that the whole has not.
#include <gtest/gtest.h>

#include <algorithm>

#include "mapper/strategies/walked_parts.h"
#include "mapper/strategies/walks.h"
#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"
#include "support/folders.h"

namespace sluice::testing {
namespace {

using Names = std::tuple<const char*, const char*>;

class LibraryParts : public ::testing::TestWithParam<Names> {
 protected:
  BoundProblem problem() const {
    const auto& [workload, architecture] = GetParam();
    LoadOptions load;
    load.library_dirs = {(testing::repository_dir() / "library").string()};
    std::vector<std::string> files;
    for (const char* name : {workload, architecture})
      files.push_back(find_spec_file(name, load).value_or(name));
    const auto specs = load_specs(files, load);
    return *bind(*specs->workload, *specs->arch);
  }
};

TEST_P(LibraryParts, AreOneMappingOfTheSpace) {
  constexpr double kSeconds = 0.4;
  const BoundProblem whole = problem();
  const MapperOptions options = options_of_walks({});
  const MapperControl control;
  sampling::MapSpace space(whole, options);
  std::vector<std::size_t> n_templates;
  for (std::size_t e = 0; e < space.n_einsums(); ++e)
    n_templates.push_back(space.templates(e).size());
  sampling::FanoutUse use(space);
  WalkedParts parts(whole, options, control, space, {});
  ASSERT_FALSE(parts.empty());
  std::optional<sampling::Genome> genome;
  for (int tries = 0; tries < 50 && !genome; ++tries) {
    parts.walk(kSeconds);
    genome = parts.joined(&space, &use);
  }
  ASSERT_TRUE(genome);
  for (std::size_t e = 0; e < space.n_einsums(); ++e)
    EXPECT_EQ(space.templates(e).size(), n_templates[e]) << whole.workload.einsums[e].name;
  const auto totals = space.price(*genome);
  ASSERT_TRUE(totals);
  const auto cost = evaluate(whole, space.build(*genome));
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->energy_j, totals->energy_j);
  EXPECT_EQ(cost->latency_s, totals->latency_s);
  EXPECT_GT(parts.evaluations(), 0);
}

INSTANTIATE_TEST_SUITE_P(Library, LibraryParts,
                         ::testing::Combine(::testing::Values("bert_base", "llama3_8b", "mamba",
                                                              "mobilenet_v1", "resnet18"),
                                            ::testing::Values("edge_33tops", "eyeriss", "simba",
                                                              "snowcat")),
                         [](const auto& test) {
                           std::string name = std::string(std::get<0>(test.param)) + "_on_" +
                                              std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace sluice::testing
