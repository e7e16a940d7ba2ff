#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "errors/outcome.h"
#include "sluice/kapla/directives.h"
#include "sluice/network/network_table.h"
#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

fs::path network_cases() {
  return testing::repository_dir() / "tests" / "errors" / "network_cases";
}
fs::path scheme_cases() { return testing::repository_dir() / "tests" / "errors" / "scheme_cases"; }

std::vector<std::string> names_in(const fs::path& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// One mistake a file; what must be said about it stands beside it in a .txt file.
class NetworkWithAMistake : public ::testing::TestWithParam<std::string> {};

TEST_P(NetworkWithAMistake, IsExplained) {
  const std::string file = (network_cases() / (GetParam() + ".csv")).string();
  const auto network = read_network_table(testing::read_text(file), file);
  ASSERT_FALSE(network.has_value());
  EXPECT_TRUE(testing::matches_golden_file("errors/network_cases/" + GetParam() + ".txt",
                                           testing::text_of_mistakes(network.error())));
}

INSTANTIATE_TEST_SUITE_P(Cases, NetworkWithAMistake,
                         ::testing::ValuesIn(names_in(network_cases(), ".csv")),
                         [](const auto& entry) { return entry.param; });

class SchemesWithAMistake : public ::testing::TestWithParam<std::string> {};

/// Messages of a program without the folder of the cases.
std::string without_folder(std::string text, const fs::path& cases = scheme_cases()) {
  const std::string folder = cases.string() + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.erase(at, folder.size());
  return text;
}

TEST_P(SchemesWithAMistake, AreExplained) {
  const testing::ProgramRun run = testing::run_sluice(
      {"evaluate", "--compat", "kapla", "--runs", (scheme_cases() / "runs.csv").string(),
       "--schemes", (scheme_cases() / (GetParam() + ".jsonl")).string()});
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(testing::matches_golden_file(
      "errors/scheme_cases/" + GetParam() + ".txt",
      without_folder(run.err) + "exit status " + std::to_string(run.exit_status) + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Cases, SchemesWithAMistake,
                         ::testing::ValuesIn(names_in(scheme_cases(), ".jsonl")),
                         [](const auto& entry) { return entry.param; });

fs::path directive_cases() {
  return testing::repository_dir() / "tests" / "errors" / "directive_cases";
}

class DirectivesWithAMistake : public ::testing::TestWithParam<std::string> {};

TEST_P(DirectivesWithAMistake, AreExplained) {
  const std::string file = (directive_cases() / (GetParam() + ".directives")).string();
  const auto layers = kapla::parse_directives(testing::read_text(file), file);
  ASSERT_FALSE(layers.has_value());
  EXPECT_TRUE(testing::matches_golden_file("errors/directive_cases/" + GetParam() + ".txt",
                                           testing::text_of_mistakes(layers.error())));
}

INSTANTIATE_TEST_SUITE_P(Cases, DirectivesWithAMistake,
                         ::testing::ValuesIn(names_in(directive_cases(), ".directives")),
                         [](const auto& entry) { return entry.param; });

fs::path loop_tree_cases() {
  return testing::repository_dir() / "tests" / "errors" / "loop_tree_cases";
}

/// Directives that are well written and no mapping of `conv.yaml`.
class DirectivesOfNoMapping : public ::testing::TestWithParam<std::string> {};

TEST_P(DirectivesOfNoMapping, AreExplained) {
  const testing::ProgramRun run =
      testing::run_sluice({"check", (loop_tree_cases() / "conv.yaml").string(), "--directives",
                           (loop_tree_cases() / (GetParam() + ".directives")).string()});
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(testing::matches_golden_file("errors/loop_tree_cases/" + GetParam() + ".txt",
                                           without_folder(run.err, loop_tree_cases()) +
                                               "exit status " + std::to_string(run.exit_status) +
                                               "\n"));
}

INSTANTIATE_TEST_SUITE_P(Cases, DirectivesOfNoMapping,
                         ::testing::ValuesIn(names_in(loop_tree_cases(), ".directives")),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace sluice
