// `sluice execute --inputs --outputs`: numbers in, numbers out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Runs `sluice execute` in a folder of its own.
class ExecutedNumbers : public ::testing::Test {
 protected:
  std::string file(const std::string& name) { return folder_ / name; }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  nlohmann::json read(const std::string& name) {
    std::ifstream in(file(name));
    return nlohmann::json::parse(in);
  }
  ProgramRun execute(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "execute");
    return run_sluice(arguments);
  }

  const std::vector<std::string> product_ = {"matmul", "--set", "M=2", "--set",
                                             "K=2",    "--set", "N=1"};
  TemporaryFolder folder_;
};

TEST_F(ExecutedNumbers, AreThoseOfTheEinsumsWithoutAMapping) {
  write("in.json", R"({"A": [[1, 2], [3, 0.5]], "W": [[10], [100]]})");
  auto arguments = product_;
  for (const std::string& more :
       {std::string("--inputs"), file("in.json"), std::string("--outputs"), file("out.json")})
    arguments.push_back(more);
  EXPECT_EQ(execute(arguments).exit_status, 0);
  // 1·10 + 2·100 and 3·10 + 0.5·100
  EXPECT_EQ(read("out.json")["Z"], nlohmann::json::parse("[[210.0], [80.0]]"));
  EXPECT_EQ(read("out.json")["A"], nlohmann::json::parse("[[1.0, 2.0], [3.0, 0.5]]"));
}

TEST_F(ExecutedNumbers, AreThoseThatTheMappingMade) {
  write("in.json", R"({"A": [[1, 2], [3, 0.5]], "W": [[10], [100]]})");
  write("mapping.yaml", R"(mapping:
  nodes:
  - !Storage {tensors: [A, W, Z], component: MainMemory}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
)");
  auto arguments = product_;
  arguments.insert(arguments.begin() + 1, {"simple", file("mapping.yaml")});
  for (const std::string& more :
       {std::string("--inputs"), file("in.json"), std::string("--outputs"), file("out.json")})
    arguments.push_back(more);
  const ProgramRun run = execute(arguments);
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("all 2 values equal the plain evaluation"));
  EXPECT_EQ(read("out.json")["Z"], nlohmann::json::parse("[[210.0], [80.0]]"));
}

TEST_F(ExecutedNumbers, WriteWhatIsNotFiniteAsText) {
  const ProgramRun run =
      execute({"flash_self_attention", "--set", "M=1", "--set", "K=1", "--set", "L=1", "--set",
               "N=2", "--set", "BLOCK=1", "--outputs", file("out.json")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(read("out.json")["RM"][0][0], "-inf");  // the maximum before the first block
}

struct WrongNumbers {
  const char* inputs;
  const char* message;
};

class WrongInputs : public ExecutedNumbers, public ::testing::WithParamInterface<WrongNumbers> {};

TEST_P(WrongInputs, AreRefused) {
  write("in.json", GetParam().inputs);
  auto arguments = product_;
  for (const std::string& more :
       {std::string("--inputs"), file("in.json"), std::string("--outputs"), file("out.json")})
    arguments.push_back(more);
  const ProgramRun run = execute(arguments);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongInputs,
    ::testing::Values(WrongNumbers{"[1, 2]", "is no JSON object of tensors"},
                      WrongNumbers{"{", "is no JSON object of tensors"},
                      WrongNumbers{R"({"B": [[1]]})", "there is no tensor B"},
                      WrongNumbers{R"({"Z": [[1], [2]]})", "Z is no input: an Einsum makes it"},
                      WrongNumbers{R"({"A": [[1, 2]]})", "A has another shape than [2, 2]"},
                      WrongNumbers{R"({"A": [[1, 2], 3]})", "rank 2 has no list"},
                      WrongNumbers{R"({"W": [[1], [[2]]]})", "W holds [2], which is no number"}));

TEST_F(ExecutedNumbers, ComeFromSeedsThatAreWholeNumbersOf64Bits) {
  for (const std::string seed : {"-1", "18446744073709551616", "0x1"}) {
    auto arguments = product_;
    arguments.insert(arguments.end(), {"--seed", seed});
    const ProgramRun run = execute(arguments);
    EXPECT_EQ(run.exit_status, 2) << seed;
    EXPECT_THAT(run.err, HasSubstr("expected a whole number from 0 to 2^64 - 1"));
  }
}

TEST_F(ExecutedNumbers, NeedAFileThatIsThere) {
  auto arguments = product_;
  for (const std::string& more :
       {std::string("--inputs"), file("no.json"), std::string("--outputs"), file("out.json")})
    arguments.push_back(more);
  EXPECT_EQ(execute(arguments).exit_status, 3);
}

TEST_F(ExecutedNumbers, AreRefusedForShapesThatCannotBeWalked) {
  const ProgramRun run =
      execute({"gpt3_6.7b", "--set", "BATCH=4096", "--outputs", file("out.json")});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.err, HasSubstr("half of this machine's memory"));
  EXPECT_THAT(run.err, HasSubstr("hint: set variables to small sizes"));
}

}  // namespace
}  // namespace sluice::testing
