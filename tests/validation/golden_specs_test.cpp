#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sluice/frontend/load.h"
#include "support/folders.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

/// The spec files of every case of the reference data.
std::vector<std::vector<std::string>> reference_cases() {
  std::vector<std::vector<std::string>> cases;
  const auto root = testing::reference_data_dir();
  if (!root) return cases;
  for (const char* set : {"accelforge", "accelforge_mappings", "accelforge_random"}) {
    for (const fs::directory_entry& folder : fs::directory_iterator(*root / set)) {
      std::vector<std::string> files;
      for (const char* file : {"workload.yaml", "arch.yaml", "mapping.yaml"})
        if (fs::exists(folder.path() / file)) files.push_back((folder.path() / file).string());
      if (files.size() >= 2) cases.push_back(files);
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

TEST(ReferenceSpecs, LoadUnchangedAndReadBackFromTheirPrintedForm) {
  const auto cases = reference_cases();
  if (cases.empty()) GTEST_SKIP() << "no reference data";
  for (const std::vector<std::string>& files : cases) {
    SCOPED_TRACE(files[0]);
    const auto specs = load_specs(files, {});
    ASSERT_TRUE(specs) << to_string(specs.error()[0]);
    ASSERT_EQ(specs->mappings.size(), files.size() - 2);
    std::string text = to_yaml(*specs->workload) + to_yaml(*specs->arch);
    for (const Mapping& mapping : specs->mappings)
      text += to_yaml(mapping, *specs->workload, *specs->arch);
    const auto again = load_specs_from_text({{"printed.yaml", text}}, {});
    ASSERT_TRUE(again) << to_string(again.error()[0]);
    EXPECT_TRUE(*again->workload == *specs->workload) << text;
    EXPECT_TRUE(*again->arch == *specs->arch) << text;
    EXPECT_TRUE(again->mappings == specs->mappings) << text;
  }
}

}  // namespace
}  // namespace sluice
