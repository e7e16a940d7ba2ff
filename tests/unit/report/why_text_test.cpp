#include "report/text/why_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "small_result.h"

namespace sluice::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Answer found(double objective, GuaranteeKind kind, double bound = 0) {
  Answer answer;
  answer.kind = Answer::Kind::kFound;
  answer.objective = objective;
  answer.guarantee.kind = kind;
  answer.guarantee.bound = bound;
  return answer;
}

ShadowPrice price(std::size_t component, Resource resource, Answer answer) {
  ShadowPrice result;
  result.component = ComponentId(component);
  result.resource = resource;
  result.answer = std::move(answer);
  return result;
}

/// 3.75 J in 0.5 s: an EDP of 1.875 J·s. `Buffer` holds 16 of 64 bits.
RunResult explained_result() {
  RunResult result = testing::small_result();
  Explanation& why = result.why.emplace();
  why.objective = 1.875;
  why.is_proven = true;
  why.n_questions = why.n_answers = 3;
  why.einsums.push_back({EinsumId(0), 3.75, 0.5, 0, 1.875, {{ComponentId(0), 0.5}}, 0.25, {}});
  return result;
}

std::string text_of(const RunResult& result) { return why_text({std::cout, std::cerr}, result); }

TEST(WhyText, TellsWhatBinds) {
  EXPECT_THAT(text_of(explained_result()),
              AllOf(HasSubstr("  Mul  3.75 J   500 ms  100.0 %\n"),
                    HasSubstr("  Mul  DRAM (bandwidth), 100.0 % busy  -      25.0 %\n"),
                    HasSubstr("  no memory is more than 25.0 % full\n")));
}

TEST(WhyText, NamesMemoriesThatAreFull) {
  RunResult result = explained_result();
  result.outcomes[0].cost->occupancy[1].peak_bits = 60;  // of 64
  EXPECT_THAT(text_of(result), HasSubstr("  full: Buffer 93.8 % (60 bit of 8 B)\n"));
}

// The best first, then what has no number. 1.5 / 1.875 is a fifth less.
TEST(WhyText, SaysHowSureAShadowPriceIs) {
  RunResult result = explained_result();
  Answer none;
  none.reason = "interrupted";
  result.why->shadow_prices = {price(2, Resource::kThroughput, none),
                               price(1, Resource::kSize, found(1.875, GuaranteeKind::kNone)),
                               price(0, Resource::kThroughput, found(1.5, GuaranteeKind::kGap, 1))};
  const std::string text = text_of(result);
  EXPECT_THAT(text, HasSubstr("  DRAM    throughput  1.50 J·s  -20.0 %  gap: at least 1 J·s\n"
                              "  Buffer  size        1.88 J·s      0 %  none\n"
                              "  MAC     throughput    not searched: interrupted\n"));
  EXPECT_THAT(text, Not(HasSubstr("questions were searched")));
}

TEST(WhyText, SaysThatItIsAPart) {
  RunResult result = explained_result();
  result.why->n_answers = 1;
  EXPECT_THAT(text_of(result), HasSubstr("the budget ended: 1 of 3 questions were searched\n"));
  result.why->is_interrupted = true;
  EXPECT_THAT(text_of(result), HasSubstr("interrupted: 1 of 3 questions were searched\n"));
}

TEST(WhyText, SaysWhichTimesAreNotThoseOfTheResult) {
  RunResult result = explained_result();
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  result.problem->arch.components[1].actions.push_back({"read", 1, unknown, 1, 0, {}});
  EXPECT_THAT(text_of(result),
              HasSubstr("  no throughput is known for read of Buffer: it takes no time here\n"));
  EXPECT_THAT(text_of(result), Not(HasSubstr("busy as under overlap")));
  result.latency = LatencyPolicy::kStaged;
  EXPECT_THAT(text_of(result), HasSubstr("busy as under overlap\n"));
}

TEST(WhyText, HasNoPartsWhereTimesDoNotAddUp) {
  RunResult result = explained_result();
  result.why->einsums[0].objective_part.reset();
  EXPECT_THAT(text_of(result), HasSubstr("  Mul  3.75 J   500 ms       -\n"));
}

TEST(WhyDocument, SaysWhatAnAnswerIs) {
  RunResult result = explained_result();
  Answer none;
  none.kind = Answer::Kind::kNoMapping;
  none.reason = "too small";
  result.why->shadow_prices = {price(1, Resource::kSize, found(1.5, GuaranteeKind::kGap, 1)),
                               price(2, Resource::kFanout, none)};
  const auto why = nlohmann::json::parse(document_text(result))["why"];
  EXPECT_EQ(why["status"], "ok");
  EXPECT_EQ(why["einsums"][0]["busy"][0]["component"], "DRAM");
  const auto& prices = why["shadow_prices"];
  EXPECT_EQ(prices[0]["with"]["bound"], 1.0);
  EXPECT_EQ(prices[0]["with"]["guarantee"], "gap");
  EXPECT_EQ(prices[1]["with"]["status"], "no_mapping");
  EXPECT_TRUE(prices[1]["with"]["objective"].is_null());
  EXPECT_EQ(prices[1]["with"]["reason"], "too small");
}

}  // namespace
}  // namespace sluice::cli
