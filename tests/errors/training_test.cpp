#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

fs::path training_cases() {
  return testing::repository_dir() / "tests" / "errors" / "training_cases";
}

std::vector<std::string> names_of_training_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(training_cases()))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// What a line `# training: …` of the file asks for.
std::vector<std::string> options_in(const std::string& text) {
  const std::string mark = "# training: ";
  std::vector<std::string> options;
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return options;
  std::istringstream words(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  for (std::string word; words >> word;) options.push_back(word);
  return options;
}

/// A workload of which no training step can be made; what must be said stands beside it.
class TrainingWithAMistake : public ::testing::TestWithParam<std::string> {};

TEST_P(TrainingWithAMistake, IsExplainedWhereItStands) {
  const std::string file = (training_cases() / (GetParam() + ".yaml")).string();
  std::vector<std::string> arguments = {"check", file, "--training"};
  for (const std::string& option : options_in(testing::read_text(file)))
    arguments.push_back(option);
  const testing::ProgramRun run = testing::run_sluice(arguments);
  EXPECT_EQ(run.out, "");
  std::string said = run.err;
  const std::string folder = training_cases().string() + "/";
  for (std::size_t at = said.find(folder); at != std::string::npos; at = said.find(folder))
    said.erase(at, folder.size());
  EXPECT_TRUE(
      testing::matches_golden_file("errors/training_cases/" + GetParam() + ".txt",
                                   said + "exit status " + std::to_string(run.exit_status) + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Cases, TrainingWithAMistake,
                         ::testing::ValuesIn(names_of_training_cases()),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace sluice
