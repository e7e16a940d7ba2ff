#include "report/text/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <limits>

#include "small_result.h"

namespace sluice::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Console plain_console() {
  Console console{std::cout, std::cerr};
  console.width = 80;
  return console;
}

TEST(Summary, TellsTheResultTheBottleneckAndTheBounds) {
  const std::string text = summary_text(plain_console(), testing::small_result());
  EXPECT_THAT(text, HasSubstr("w on a\n"));
  EXPECT_THAT(text, HasSubstr("energy     3.75 J  (6.7 % of it leakage)"));  // 0.25 / 3.75
  EXPECT_THAT(text, HasSubstr("latency    500 ms"));
  EXPECT_THAT(text, HasSubstr("EDP        1.88 J·s"));  // 3.75 × 0.5
  EXPECT_THAT(text,
              HasSubstr("guarantee  proven optimal for EDP, given no recompute, perfect factors"));
  // DRAM is all of the time; the bound is max(0.125, 0.25) s, half of 0.5 s.
  EXPECT_THAT(text, HasSubstr("DRAM ████████████████████████ 500 ms  100.0 %"));
  EXPECT_THAT(text, HasSubstr("this mapping takes 2 times that"));
  EXPECT_THAT(text, HasSubstr("2 B / 8 B   25.0 %"));  // 16 of 64 bits
  EXPECT_THAT(text, HasSubstr("DRAM holds A 8 B, Z 8 B\nfor m ×8 of 1\nMAC computes Mul\n"));
}

TEST(Summary, SaysThePolicyOfASearchAndHowFarItsGapIs) {
  RunResult result = testing::small_result();
  EXPECT_THAT(summary_text(plain_console(), result), HasSubstr("500 ms  under the policy overlap"));
  result.latency = LatencyPolicy::kStaged;
  result.guarantee->kind = GuaranteeKind::kGap;
  result.guarantee->space = "all there is";
  result.guarantee->bound = 0.75;  // 3 J × 0.25 s
  const std::string text = summary_text(plain_console(), result);
  EXPECT_THAT(text, HasSubstr("under the policy staged"));
  EXPECT_THAT(text, HasSubstr("guarantee  best EDP seen, not proven optimal: 2.5 times the lower "
                              "bound of 750 mJ·s, given all there is\n"));
  result.options->top = 3;
  EXPECT_THAT(summary_text(plain_console(), result),
              HasSubstr("given all there is; 1 of 3 reported\n"));
}

TEST(Summary, NamesWhatAProofLeavesOut) {
  RunResult result = testing::small_result();
  result.guarantee->leaves_out = {{"collectives", "all of them"}, {"recomputation", "any"}};
  EXPECT_THAT(summary_text(plain_console(), result),
              HasSubstr("leaves out collectives, recomputation\n"));
  result.guarantee->kind = GuaranteeKind::kNone;
  EXPECT_THAT(summary_text(plain_console(), result), Not(HasSubstr("leaves out")));
}

TEST(Summary, SaysHowManyOrdersAnInterruptedSearchWentThrough) {
  RunResult result = testing::small_result();
  result.status = RunStatus::kInterrupted;
  result.guarantee->kind = GuaranteeKind::kNone;
  result.guarantee->orders_explored = 3;
  result.guarantee->orders_wanted = 24;
  EXPECT_THAT(
      summary_text(plain_console(), result),
      HasSubstr("interrupted: the best so far, 3 of 24 orders of the Einsums gone through"));
}

TEST(Summary, SaysThatALatencyIsUnknown) {
  RunResult result = testing::small_result();
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  result.problem->arch.components[2].actions.push_back({"compute", 1, unknown});
  result.outcomes[0].cost->latency_s = unknown;
  const std::string text = summary_text(plain_console(), result);
  EXPECT_THAT(text, HasSubstr("latency    unknown"));
  EXPECT_THAT(text, HasSubstr("unknown: no throughput is known for compute of MAC"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Summary, SaysWhichMapperItTookWhereNobodyChose) {
  RunResult result = testing::small_result();
  result.options->mapper = "compound";
  result.mapper_reason = "fused does not know networks that cost energy or time: Mesh";
  EXPECT_THAT(summary_text(plain_console(), result),
              HasSubstr("searched by the mapper compound: fused does not know networks"));
}

TEST(Summary, HasColoursOnlyWhereTheConsoleHas) {
  Console console = plain_console();
  EXPECT_THAT(summary_text(console, testing::small_result()), Not(HasSubstr("\x1b")));
  console.colour = true;
  EXPECT_THAT(summary_text(console, testing::small_result()), HasSubstr("\x1b[1m"));
}

TEST(Summary, KeepsToAsciiWhereAsked) {
  Console console = plain_console();
  console.ascii = true;
  for (const char c : summary_text(console, testing::small_result()))
    ASSERT_LT(static_cast<unsigned char>(c), 128);
}

TEST(Summary, SaysWhyThereIsNoMapping) {
  RunResult result = testing::small_result();
  result.outcomes.clear();
  result.guarantee.reset();
  result.no_mapping = NoMapping{"A does not fit into Buffer", "8 bits more", {}, {}, {}, 0};
  EXPECT_THAT(summary_text(plain_console(), result),
              AllOf(HasSubstr("no legal mapping: A does not fit into Buffer"),
                    HasSubstr("nearest change: 8 bits more")));
  result.no_mapping->proven = false;
  EXPECT_THAT(summary_text(plain_console(), result), HasSubstr("no mapping: A does not fit"));
}

TEST(Summary, ListsSeveralMappingsAsATable) {
  RunResult result = testing::small_result();
  result.outcomes.push_back(result.outcomes.front());
  const std::string text = summary_text(plain_console(), result);
  EXPECT_THAT(text, HasSubstr("2 mappings"));
  EXPECT_THAT(text, HasSubstr("  2  3.75 J   500 ms  1.88 J·s\n"));
}

}  // namespace
}  // namespace sluice::cli
