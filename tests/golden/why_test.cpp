// `map --why`: its text, its document, and that the document says how to see the same again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// Two matrix products, the first of which the second reads from a buffer of 1 MiB.
ProgramRun map_chain(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"map", "matmul_chain", "simple", "--set", "N_EINSUMS=2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_sluice(arguments);
}

TEST(Why, TextOfAChain) {
  const ProgramRun run = map_chain({"--why"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_TRUE(matches_golden_file("golden/why_chain.txt", run.out.substr(run.out.find("\nWhy: "))));
}

TEST(Why, TextOfOneEinsum) {
  const ProgramRun run = run_sluice({"map", "matmul", "tpu_v4i", "--why", "--objective", "energy"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_TRUE(
      matches_golden_file("golden/why_matmul.txt", run.out.substr(run.out.find("\nWhy: "))));
}

TEST(Why, IsAskedFor) {
  EXPECT_THAT(map_chain({}).out, Not(HasSubstr("Why")));
  EXPECT_FALSE(Json::parse(map_chain({"--json"}).out).contains("why"));
}

TEST(Why, IsTheSameOnAnyNumberOfThreads) {
  const auto why = [](const char* threads) {
    return Json::parse(map_chain({"--why", "--json", "--threads", threads}).out)["why"];
  };
  const Json one = why("1");
  EXPECT_EQ(one["answered"], one["questions"]);
  EXPECT_EQ(why("2"), one);
  EXPECT_EQ(why("8"), one);
}

TEST(Why, AShadowPriceIsWhatItsSettingsGive) {
  const TemporaryFolder folder;
  const ProgramRun run = map_chain({"--why", "--json", "-o", folder.path()});
  const Json prices = Json::parse(run.out)["why"]["shadow_prices"];
  ASSERT_EQ(prices.size(), 4u);  // MainMemory: throughput; GlobalBuffer: both; MAC: throughput
  for (const Json& price : prices) {
    std::vector<std::string> arguments = {"map", folder / "specs.yaml", "--json"};
    for (const Json& setting : price["set"]) {
      arguments.emplace_back("--set");
      arguments.push_back(setting.get<std::string>());
    }
    const Json document = Json::parse(run_sluice(arguments).out);
    EXPECT_EQ(document["mappings"][0]["edp_js"], price["with"]["objective"]) << price;
    EXPECT_EQ(price["with"]["guarantee"], "optimal");
  }
}

// All the searches together would take half a minute.
TEST(Why, KeepsToTheBudget) {
  const auto begin = std::chrono::steady_clock::now();
  const ProgramRun run =
      run_sluice({"map", "gpt3_6.7b", "tpu_v4i", "--why", "--json", "--budget", "1s"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const Json why = Json::parse(run.out)["why"];
  EXPECT_EQ(why["status"], "ok");
  EXPECT_LT(why["answered"], why["questions"]);
  EXPECT_EQ(why["einsums"].size(), 30u);  // what they cost needs no search
}

TEST(Why, SharesABudgetOfEvaluations) {
  const ProgramRun run =
      map_chain({"--why", "--json", "--mapper", "anneal", "--budget", "1400evals"});
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["search"]["mappings_evaluated"], 700);
  EXPECT_EQ(document["options"]["budget"], "1400evals");
  EXPECT_EQ(document["why"]["shadow_prices"][0]["with"]["guarantee"], "none");
}

}  // namespace
}  // namespace sluice::testing
