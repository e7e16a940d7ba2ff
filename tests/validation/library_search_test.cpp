// Library workloads that take a moment, on every library architecture: a mapping is found, and the
// file that is written of it costs the same to the last bit. All pairs: bench/library_pairs.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "same_after_printing.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "support/folders.h"

namespace sluice::testing {
namespace {

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  const auto folder = testing::repository_dir() / "library" / "architectures";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().stem().string();
        entry.path().extension() == ".yaml" && !name.starts_with("comet_") &&
        !name.starts_with("kapla_"))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

class LibrarySearch : public ::testing::TestWithParam<std::tuple<const char*, std::string>> {};

TEST_P(LibrarySearch, FindsAMappingThatCostsTheSameOnceItWasPrinted) {
  const auto& [workload, architecture] = GetParam();
  LoadOptions load;
  load.library_dirs = {(testing::repository_dir() / "library").string()};
  // `fused` knows neither their networks nor the cycles of their arrays.
  if (architecture.starts_with("comet_")) load.variables["FOR_SEARCH"] = "True";
  std::vector<std::string> files;
  for (const std::string& name : {std::string(workload), architecture})
    files.push_back(find_spec_file(name, load).value_or(name));
  const auto specs = load_specs(files, load);
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error().front());
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem.has_value());
  MapperOptions options;
  options.max_fused_loops = 1;
  const auto result = standard_mappers().find("fused")->map(*problem, options, {});
  ASSERT_TRUE(result.has_value()) << result.error().reason;
  expect_same_after_printing(*problem, *result);
}

INSTANTIATE_TEST_SUITE_P(Quick, LibrarySearch,
                         ::testing::Combine(::testing::Values("attention", "flash_attention",
                                                              "matmul_chain", "mqa"),
                                            ::testing::ValuesIn(architectures())),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           name += "_on_" + std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(Kapla, LibrarySearch,
                         ::testing::Values(std::tuple("matmul", std::string("kapla_single_node"))),
                         [](const auto& test) { return std::get<1>(test.param); });

INSTANTIATE_TEST_SUITE_P(Comet, LibrarySearch,
                         ::testing::Combine(::testing::Values("gemm_softmax"),
                                            ::testing::Values(std::string("comet_edge"),
                                                              std::string("comet_cloud"))),
                         [](const auto& test) { return std::get<1>(test.param); });

}  // namespace
}  // namespace sluice::testing
