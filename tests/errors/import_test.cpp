#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "errors/outcome.h"
#include "sluice/frontend/import.h"
#include "support/folders.h"
#include "support/golden_file.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

fs::path import_cases_dir() {
  return testing::repository_dir() / "tests" / "errors" / "import_cases";
}

/// One mistake a file of Timeloop's; what must be said about it stands beside it in a .txt file.
class ImportWithAMistake : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportWithAMistake, IsExplained) {
  const auto imported = import_specs({(import_cases_dir() / (GetParam() + ".yaml")).string()}, {});
  ASSERT_FALSE(imported.has_value());
  EXPECT_TRUE(testing::matches_golden_file("errors/import_cases/" + GetParam() + ".txt",
                                           testing::text_of_mistakes(imported.error())));
}

INSTANTIATE_TEST_SUITE_P(Cases, ImportWithAMistake,
                         ::testing::ValuesIn(testing::yaml_names(import_cases_dir())),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace sluice
