#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <ostream>

#include "errors/outcome.h"
#include "support/folders.h"
#include "support/golden_file.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

fs::path cases_dir() { return testing::repository_dir() / "tests" / "errors" / "cases"; }

/// One mistake a file; what must be said about it stands beside it in a .txt file.
class SpecWithAMistake : public ::testing::TestWithParam<std::string> {};

TEST_P(SpecWithAMistake, IsExplained) {
  const std::clock_t start = std::clock();
  LoadOptions options;
  options.library_dirs = {(testing::repository_dir() / "library").string()};
  const auto specs = load_specs({(cases_dir() / (GetParam() + ".yaml")).string()}, options);
  const std::string outcome = testing::outcome_of(specs);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, testing::kLongestAnswer);
  EXPECT_NE(outcome, "no mistake found\n");
  EXPECT_TRUE(testing::matches_golden_file("errors/cases/" + GetParam() + ".txt", outcome));
}

INSTANTIATE_TEST_SUITE_P(Cases, SpecWithAMistake,
                         ::testing::ValuesIn(testing::yaml_names(cases_dir())),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace sluice
