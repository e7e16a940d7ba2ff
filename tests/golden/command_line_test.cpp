// Exit statuses, streams and texts of the program itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

ProgramRun sluice(const std::vector<std::string>& arguments) {
  return run_program(SLUICE_PROGRAM, arguments);
}

TEST(CommandLine, TellsItsVersion) {
  const ProgramRun run = sluice({"--version"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.out, StartsWith("sluice 0."));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(CommandLine, ExplainsEveryCommandAndOption) {
  std::string text;
  for (const char* command : {"", "map", "evaluate", "execute", "check", "show", "list"}) {
    const ProgramRun run = command[0] == '\0' ? sluice({"--help"}) : sluice({command, "--help"});
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_THAT(run.err, IsEmpty());
    text += "$ sluice " + std::string(command) + (command[0] == '\0' ? "" : " ") + "--help\n" +
            run.out + "\n";
  }
  EXPECT_TRUE(matches_golden_file("golden/help.txt", text));
}

TEST(CommandLine, ListsWhatThereIs) {
  EXPECT_THAT(sluice({"list", "workloads"}).out, HasSubstr("gpt3_6.7b "));
  EXPECT_THAT(sluice({"list", "architectures"}).out, HasSubstr("tpu_v4i"));
  EXPECT_THAT(sluice({"list", "mappers"}).out, HasSubstr("fused"));
  EXPECT_THAT(sluice({"list", "objectives"}).out, HasSubstr("edp"));
}

struct WrongCall {
  std::vector<std::string> arguments;
  int exit_status;
  std::string message;  ///< on standard error
};

class WrongCalls : public ::testing::TestWithParam<WrongCall> {};

TEST_P(WrongCalls, SayWhatIsWrongOnStandardErrorOnly) {
  const ProgramRun run = sluice(GetParam().arguments);
  EXPECT_EQ(run.exit_status, GetParam().exit_status);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, WrongCalls,
    ::testing::Values(
        WrongCall{{}, 2, "see sluice --help"},
        WrongCall{{"evaluat"}, 2, "did you mean `evaluate`?"}, WrongCall{{"map"}, 2, "required"},
        WrongCall{
            {"map", "matmul", "simple", "--objectve", "edp"}, 2, "did you mean `--objective`?"},
        WrongCall{{"map", "matmul", "simple", "--top", "0"}, 2, "from 1 to 1000"},
        WrongCall{{"map", "matmul", "simple", "--objective", "speed"}, 2, "--objective speed"},
        WrongCall{{"map", "matmul", "simple", "--mapper", "fusd"}, 2, "did you mean `fused`?"},
        WrongCall{{"map", "matmul", "simple", "--set", "M"}, 2, "--set NAME=VALUE"},
        WrongCall{{"map", "gpt3_67b", "tpu_v4i"}, 2, "did you mean `gpt3_6.7b`?"},
        WrongCall{{"map", "matmul", "tpu_v4"}, 2, "did you mean `tpu_v4i`?"},
        WrongCall{{"map", "matmul"}, 2, "no architecture"},
        WrongCall{{"evaluate", "matmul", "simple"}, 2, "no mapping"},
        WrongCall{{"check", "missing.yaml"}, 3, "cannot read missing.yaml"},
        WrongCall{{"check", "/"}, 3, "it is a folder"},
        WrongCall{{"list", "colours"}, 2, "colours"}));

TEST(CommandLine, PrintsMistakesAsADocumentWithJson) {
  const ProgramRun run = sluice({"map", "gpt3_67b", "tpu_v4i", "--json"});
  EXPECT_EQ(run.exit_status, 2);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["schema"], "sluice.result/1");
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["diagnostics"][0]["severity"], "error");
  EXPECT_THAT(document["diagnostics"][0]["hint"].get<std::string>(), HasSubstr("gpt3_6.7b"));
}

}  // namespace
}  // namespace sluice::testing
