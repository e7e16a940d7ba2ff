// What `-o` says about the result that stands in its folder already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EarlierResultTest : public ::testing::Test {
 protected:
  /// What a command on the folder says on standard error.
  std::string said(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", folder_.path()});
    const ProgramRun run = run_program(sluice_program(), arguments);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return run.err;
  }

  /// As a search that a budget ended leaves it.
  void leave_open() const {
    auto document = nlohmann::json::parse(read_text(folder_ / "result.json"));
    document["search"]["ended_by"] = "budget";
    std::ofstream(folder_ / "result.json") << document.dump();
  }

  TemporaryFolder folder_;
};

TEST_F(EarlierResultTest, IsReplacedWithAWarningWhereItIsOfOtherOptionsOrSpecs) {
  EXPECT_THAT(said({"map", "matmul", "simple"}), IsEmpty());
  EXPECT_THAT(said({"map", "matmul", "simple", "--budget", "60s"}), IsEmpty());
  EXPECT_THAT(said({"map", "matmul", "simple", "--objective", "energy"}),
              AllOf(HasSubstr("warning: the result in " + folder_.path() + " will be replaced"),
                    HasSubstr("objective edp, now energy\n")));
  EXPECT_THAT(said({"map", "matmul", "simple", "--objective", "energy", "--set", "M=512"}),
              HasSubstr("other numbers in the specs"));
  EXPECT_THAT(said({"map", "matmul_chain", "simple", "--objective", "energy"}),
              HasSubstr("workload matmul, now matmul_chain"));
  EXPECT_THAT(said({"evaluate", "matmul_chain", "simple", folder_ / "mapping.yaml"}),
              HasSubstr("command map, now evaluate"));
}

TEST_F(EarlierResultTest, SaysThatASearchGoesOn) {
  said({"map", "matmul", "simple"});
  leave_open();
  EXPECT_THAT(said({"map", "matmul", "simple", "--seed", "3"}),
              AllOf(HasSubstr("goes on from the interrupted search in " + folder_.path() +
                              ": its best edp is 470 µJ·s\n"),
                    Not(HasSubstr("warning"))));
}

}  // namespace
}  // namespace sluice::testing
