// What commands say of training steps and of illegal mappings, and where that stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using testing::ProgramRun;
using testing::run_sluice;

// Ten inputs have weights in them; X_in is the sample, and differs from one to the next.
TEST(Check, SaysWhichInputsATrainingStepLearns) {
  const ProgramRun text = run_sluice({"check", "gpt3_6.7b", "--training"});
  EXPECT_EQ(text.out,
            "ok: workload gpt3_6.7b (75 Einsums, 87 tensors)\n"
            "gradients of LN1_gain, LN1_bias, WV, WK, WQ, WZ, LN2_gain, LN2_bias and 2 more; "
            "none of X_in\n");
  const ProgramRun adam =
      run_sluice({"check", "matmul", "--training", "--optimizer", "adam", "--json"});
  EXPECT_THAT(adam.out, HasSubstr("\"severity\":\"note\""));
  EXPECT_THAT(adam.out, HasSubstr("gradients of W; none of A\""));
}

TEST(Check, NamesAWorkloadAfterTheFileThatIncludesAnother) {
  EXPECT_EQ(run_sluice({"check", "gpt3_175b"}).out,
            "ok: workload gpt3_175b (30 Einsums, 41 tensors)\n");
  EXPECT_EQ(run_sluice({"check", "bert_large"}).out,
            "ok: workload bert_large (30 Einsums, 41 tensors)\n");
}

// The rows that a step of Z needs are those of a step before: illegal, and where, for both.
TEST(Execute, NamesTheLinesOfWhatIsIllegal) {
  std::string example = testing::read_text(
      (testing::repository_dir() / "tests/golden/examples/6_forwarded_layers.yaml").string());
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = example.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    example.replace(at, from.size(), to);
  };
  replace("{rank_variable: n, tile_shape: 1}", "{rank_variable: [u, p], tile_shape: 2}");
  replace("{rank_variable: u, tile_shape: 2, component",
          "{rank_variable: l, tile_shape: 2, component");
  replace("- !Temporal {rank_variable: k, tile_shape: 1}",
          "- !Temporal {rank_variable: k, tile_shape: 1}\n"
          "      - !Temporal {rank_variable: n, tile_shape: 1}");
  replace("- !Temporal {rank_variable: l, tile_shape: 1}",
          "- !Temporal {rank_variable: l, tile_shape: 1}\n"
          "      - !Temporal {rank_variable: n, tile_shape: 1}");
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("forward.yaml", example);
  const std::string place = file + ":21:5: ";
  const std::string why =
      "The forward of Y to GBUF: the Einsum Z needs the indices 2 to 5 of its rank P in a step; "
      "the Einsum Y makes 4 to 5.";
  const ProgramRun evaluated = run_sluice({"evaluate", file});
  EXPECT_EQ(evaluated.exit_status, 1);
  EXPECT_THAT(evaluated.out, HasSubstr(place + why));
  const ProgramRun executed = run_sluice({"execute", file});
  EXPECT_EQ(executed.exit_status, 1);
  EXPECT_THAT(executed.err, HasSubstr(place + "error: " + why));
  EXPECT_THAT(executed.out, HasSubstr("before anybody has made it in this step"));
}

}  // namespace
}  // namespace sluice
