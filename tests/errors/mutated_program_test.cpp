#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <regex>

#include "support/mutated_text.h"
#include "support/printable_text.h"
#include "support/random_cases.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using Words = std::vector<std::string>;

bool has_section(const std::string& text, const std::string& name) {
  return text.rfind(name + ":", 0) == 0 || text.find("\n" + name + ":") != std::string::npos;
}

/// The file with what it needs to be complete, by the sections that it had before.
Words names_with(const std::string& file, const std::string& original) {
  const bool workload = has_section(original, "workload");
  const bool arch = has_section(original, "arch");
  if (workload && arch) return {file};
  if (arch) return {"matmul", file};
  if (workload) return {file, "simple"};
  if (has_section(original, "variables")) return {"gemm_softmax", "comet_edge", file};
  return {"matmul", "simple", file};
}

/// One of the commands, with a small budget where it searches.
Words command_for(std::mt19937_64& random, const std::string& file, const std::string& original,
                  const std::string& folder) {
  if (has_section(original, "problem") || has_section(original, "architecture") ||
      random() % 5 == 0)
    return {"import", file, "-o", folder + "/imported"};
  static const std::vector<Words> kCommands = {
      {"check"},
      {"check"},
      {"show"},
      {"show", "--yaml"},
      {"evaluate"},
      {"evaluate", "--latency", "staged"},
      {"evaluate", "--latency", "pipeline", "--json"},
      {"execute"},
      {"map", "--budget", "0.2s", "--threads", "1"},
      {"map", "--budget", "0.2s", "--threads", "1", "--mapper", "compound"},
      {"map", "--budget", "0.2s,50evals", "--threads", "1", "--mapper", "random"}};
  Words command = kCommands[random() % kCommands.size()];
  const Words names = names_with(file, original);
  command.insert(command.begin() + 1, names.begin(), names.end());
  if (random() % 10 == 0) {
    static const Words kValues = {"-4", "1.5", "abc", "0", "1e18", "1e400", "\x1b[1m"};
    command.insert(command.end(), {"--set", "M=" + kValues[random() % kValues.size()]});
  }
  return command;
}

/// What is wrong with an answer; empty where nothing is.
std::string fault_of(const ProgramRun& run) {
  static const Words kAnswers = {"0", "1", "2", "4"};
  if (std::find(kAnswers.begin(), kAnswers.end(), std::to_string(run.exit_status)) ==
      kAnswers.end())
    return fmt::format("exit status {}", run.exit_status);
  if (first_unprintable(run.err) || first_unprintable(run.out)) return "what no terminal shows";
  static const std::regex kPlace("(^|\n)([^\n]+:[0-9]+(:[0-9]+)?|--set [^\n]*): error: ");
  if (run.exit_status == 2 && !std::regex_search(run.err, kPlace)) return "no error has a place";
  static const std::regex kNegativeZero("[^0-9a-zA-Z.]-0(\\.0+)?[ ,;)%]");
  if (run.exit_status < 2 && std::regex_search(run.out, kNegativeZero)) return "a negative zero";
  return "";
}

TEST(MutatedFiles, AreAnsweredByTheProgramWithAPlaceAndInText) {
  const std::vector<std::string> files = mutable_files();
  const RandomCases cases = random_cases(150);
  const TemporaryFolder folder;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    std::mt19937_64 random(seed);
    const std::string& source = files[random() % files.size()];
    const std::string original = read_text(source);
    const std::string text =
        mutated_text(random, original, read_text(files[random() % files.size()]));
    const std::string file = folder.write("mutated.yaml", text);
    const Words command = command_for(random, file, original, folder.path());
    const std::time_t start = std::time(nullptr);
    const ProgramRun run = run_sluice(command);
    EXPECT_EQ(fault_of(run), "") << "seed " << seed << ", from " << source << ":\n  "
                                 << fmt::format("{}", fmt::join(command, " ")) << "\n"
                                 << run.err.substr(0, 600) << "\n--- file\n"
                                 << printable_text(text.substr(0, 3000));
    EXPECT_LT(std::time(nullptr) - start, 60) << "seed " << seed;
  }
}

TEST(MutatedFiles, OfZeroAndOfBinaryBytesHaveAPlace) {
  const TemporaryFolder folder;
  const std::string binary = folder.write("binary.yaml", std::string("\x7f"
                                                                     "ELF\0\1\2",
                                                                     7));
  const ProgramRun of_binary = run_sluice({"check", binary});
  EXPECT_EQ(of_binary.exit_status, 2);
  EXPECT_NE(of_binary.err.find("binary.yaml:1:1: error: this is a binary file: byte 0x7f is no"),
            std::string::npos);
  const std::string empty = folder.write("empty.yaml", "");
  const ProgramRun of_empty = run_sluice({"map", empty, "simple"});
  EXPECT_EQ(of_empty.exit_status, 2);
  EXPECT_NE(of_empty.err.find("empty.yaml:1: error: the file is empty"), std::string::npos)
      << of_empty.err;
}

}  // namespace
}  // namespace sluice::testing
