#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "errors/outcome.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Loads a generated text and expects the answer within a second.
std::string outcome_within_a_second(const std::string& text) {
  const std::clock_t start = std::clock();
  std::string outcome = testing::outcome_of(load_specs_from_text({{"generated.yaml", text}}, {}));
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, testing::kLongestAnswer);
  return outcome;
}

std::string repeated(const std::string& text, int n) {
  std::string result;
  for (int i = 0; i < n; ++i) result += text;
  return result;
}

TEST(HostileFile, OfHundredMegabytesIsNotRead) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("huge.yaml", "workload: {}\n");
  std::filesystem::resize_file(path, 100'000'000);
  const std::string outcome = testing::outcome_of(load_specs({path}, {}));
  EXPECT_EQ(outcome,
            "huge.yaml: error: the file has 100000000 bytes, more than the limit of 67108864\n"
            "exit status 2\n");
}

TEST(HostileFile, ThatIsAFolderOrMissingIsUnreadable) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(testing::outcome_of(load_specs({folder.path()}, {})),
              AllOf(HasSubstr("this is a folder, not a file"), HasSubstr("exit status 3")));
  EXPECT_THAT(testing::outcome_of(load_specs({folder / "nowhere.yaml"}, {})),
              AllOf(HasSubstr("there is no such file"), HasSubstr("exit status 3")));
}

TEST(HostileFile, NestedTenThousandDeepIsRefused) {
  const std::string text = "workload: " + repeated("[", 10'000) + repeated("]", 10'000) + "\n";
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("nested more than 64 levels deep"));
}

TEST(HostileFile, WithMillionsOfNodesIsRefused) {
  const std::string text = "workload: [" + repeated("1,", 3'000'000) + "1]\n";
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("nodes, aliases expanded"));
}

TEST(HostileFile, WithADeeplyNestedExpressionIsRefused) {
  const std::string text =
      "variables: {X: \"" + repeated("(", 5000) + "1" + repeated(")", 5000) + "\"}\n";
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("nested too deeply"));
}

TEST(HostileFile, WithAnEndlessExpressionIsRefused) {
  const std::string text = "variables: {X: \"1" + repeated("+1", 1'000'000) + "\"}\n";
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("is too long"));
}

TEST(HostileFile, WithADeeplyNestedEinsumIsRefused) {
  const std::string text =
      "workload: {rank_sizes: {M: 4}, bits_per_value: {All: 8}, einsums: [\"C[m] = " +
      repeated("exp(", 20'000) + "A[m]" + repeated(")", 20'000) + "\"]}\n";
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("nested too deeply"));
}

TEST(HostileFile, WithAChainOfVariablesIsAnswered) {
  std::string text = "variables:\n";
  for (int i = 0; i < 20'000; ++i) text += fmt::format("  V{}: V{} + 1\n", i, i + 1);
  EXPECT_THAT(outcome_within_a_second(text), HasSubstr("depend on each other too deeply"));
}

TEST(HostileFile, WithAThousandMistakesReportsTheFirstTwoHundred) {
  std::string text = "workload:\n  rank_sizes:\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("    R{}: -1\n", i);
  const auto specs =
      load_specs_from_text({{"generated.yaml", text + "  einsums: [\"C[m] = A[m]\"]\n"}}, {});
  ASSERT_FALSE(specs);
  EXPECT_EQ(specs.error().size(), 200U);
}

TEST(HostileFile, OfZeroBytesAndOfBinaryBytesIsAnswered) {
  EXPECT_EQ(outcome_within_a_second(""), "no mistake found\n");
  std::string noise;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>((i * 7919 + i / 251) % 256);
  EXPECT_THAT(outcome_within_a_second(noise), HasSubstr("exit status 2"));
}

TEST(HostileFile, WithAnEinsumOfSixtyFiveTensorsIsRefused) {
  std::string product = "C[m] = A0[m]";
  for (int i = 1; i < 64; ++i) product += fmt::format(" * A{}[m]", i);
  const std::string head =
      "workload:\n  rank_sizes: {M: 4}\n  bits_per_value: {All: 8}\n  einsums:\n";
  EXPECT_THAT(outcome_within_a_second(head + "  - \"" + product + "\"\n"),
              HasSubstr("the Einsum C uses more than 64 tensors"));
}

}  // namespace
}  // namespace sluice
