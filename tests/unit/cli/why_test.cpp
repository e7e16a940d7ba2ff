#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/why/changes.h"
#include "cli/why/explain.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kChain = R"yaml(workload:
  rank_sizes: {M: 8, K: 8, N: 8, L: 8}
  bits_per_value: {All: 8}
  einsums:
  - "H[m,n] = X[m,k] * A[k,n]"
  - "Y[m,l] = H[m,n] * B[n,l]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8, throughput: 8}, {name: write, energy: 8, throughput: 8}]}
  - !Memory {name: Buffer, size: 1024, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, spatial: [{name: lane, fanout: 2}], actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

class WhyTest : public ::testing::Test {
 protected:
  void SetUp() override { use(kChain); }

  void use(const std::string& text) {
    const auto specs = load_specs_from_text({{"chain.yaml", text}}, {});
    ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
    problem_ = *bind(*specs->workload, *specs->arch);
    auto found = run_mapper(mapper(), problem_, options_, {});
    ASSERT_TRUE(found.has_value());
    found_ = std::move(*found);
  }

  static const Mapper& mapper() { return *standard_mappers().find("fused"); }

  Explanation explained(const QuestionProgress& progress = {}) const {
    const MappedResult& best = found_.mappings.front();
    return explain({mapper(), problem_, best.mapping, best.cost, found_.guarantee}, options_,
                   cancel_, progress);
  }

  /// What the search finds where one number of the text is another.
  double objective_with(const std::string& from, const std::string& to) const {
    std::string text = kChain;
    text.replace(text.find(from), from.size(), to);
    const auto specs = load_specs_from_text({{"chain.yaml", text}}, {});
    const auto found = run_mapper(mapper(), *bind(*specs->workload, *specs->arch), options_, {});
    return objective_value(options_.objectives.front(), found->mappings.front().cost);
  }

  BoundProblem problem_;
  MapperOptions options_;
  MapperResult found_;
  std::atomic<bool> cancel_{false};
};

// Main: throughput. Buffer: size; its throughput has no limit. MAC: throughput and lanes.
TEST_F(WhyTest, DoublesWhatIsFinite) {
  const std::vector<ShadowPrice> prices = doublings(problem_);
  ASSERT_EQ(prices.size(), 4u);
  EXPECT_THAT(prices[0].settings, ElementsAre(Pair("arch.Main.read.throughput", "16"),
                                              Pair("arch.Main.write.throughput", "16")));
  EXPECT_THAT(prices[1].settings, ElementsAre(Pair("arch.Buffer.size", "2048")));
  EXPECT_THAT(prices[2].settings, ElementsAre(Pair("arch.MAC.compute.throughput", "2")));
  EXPECT_THAT(prices[3].settings, ElementsAre(Pair("arch.MAC.lane.fanout", "4")));
  EXPECT_EQ(prices[1].from, 1024);
  EXPECT_EQ(prices[3].dimension, "lane");
}

TEST_F(WhyTest, ASettingChangesNothingElse) {
  for (const ShadowPrice& price : doublings(problem_)) {
    const auto changed = with_doubled(problem_, price);
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(changed->workload, problem_.workload);
    std::size_t n_different = 0;
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c)
      n_different += changed->arch.components[c] == problem_.arch.components[c] ? 0 : 1;
    EXPECT_EQ(n_different, 1u);
    EXPECT_NE(changed->arch[price.component], problem_.arch[price.component]);
  }
}

TEST_F(WhyTest, ShadowPricesAreTheOptimaOfTheChangedMachines) {
  const Explanation why = explained();
  ASSERT_EQ(why.shadow_prices.size(), 4u);
  EXPECT_EQ(why.shadow_prices[1].answer.objective, objective_with("size: 1024", "size: 2048"));
  EXPECT_EQ(why.shadow_prices[2].answer.objective,
            objective_with("energy: 1, throughput: 1}", "energy: 1, throughput: 2}"));
  EXPECT_EQ(why.shadow_prices[3].answer.objective, objective_with("fanout: 2", "fanout: 4"));
  for (const ShadowPrice& price : why.shadow_prices) {
    EXPECT_EQ(price.answer.guarantee.kind, GuaranteeKind::kOptimal);
    EXPECT_LE(price.answer.objective, why.objective);
  }
}

// Both Einsums: 512 operations on 2 lanes, 256 s, are the larger time. H stays in the buffer; off
// chip, writing and reading it takes more energy.
TEST_F(WhyTest, TellsWhatBindsAndWhatTheOtherChoiceCosts) {
  const Explanation why = explained();
  ASSERT_EQ(why.einsums.size(), 2u);
  for (const EinsumAccount& account : why.einsums) {
    EXPECT_EQ(problem_.arch[account.busy.front().component].name, "MAC");
    EXPECT_EQ(account.latency_s, 256);
    EXPECT_EQ(account.compute_use, 1);
    ASSERT_TRUE(account.alone.has_value());
    EXPECT_GE(account.alone->energy_j, account.energy_j);
  }
  const Cost& cost = found_.mappings.front().cost;
  const EinsumAccount& first = why.einsums.front();
  EXPECT_DOUBLE_EQ(*first.objective_part,
                   cost.edp_js() - (cost.energy_j - first.energy_j) * (cost.latency_s - 256));
  ASSERT_EQ(why.exchanges.size(), 1u);
  EXPECT_TRUE(why.exchanges.front().on_chip);
  EXPECT_EQ(problem_.arch[*why.exchanges.front().memory].name, "Buffer");
  EXPECT_GT(why.exchanges.front().other.objective, why.objective);
  EXPECT_EQ(why.n_questions, 7u);  // 2 alone, 4 doubled, 1 exchange
  EXPECT_EQ(why.n_answers, 7u);
}

// One Einsum exchanges nothing; the buffer may do without each of its tensors.
TEST_F(WhyTest, OfOneEinsumItAsksWhatMemoriesHold) {
  std::string text = kChain;
  const std::string second = "\n  - \"Y[m,l] = H[m,n] * B[n,l]\"", keeps = "{keep: All}";
  text.erase(text.find(second), second.size());
  use(text.replace(text.find(keeps), keeps.size(), "{may_keep: All}"));
  const Explanation why = explained();
  EXPECT_TRUE(why.exchanges.empty());
  ASSERT_EQ(why.holdings.size(), 3u);
  for (const HoldingChoice& choice : why.holdings) {
    EXPECT_EQ(problem_.arch[choice.memory].name, "Buffer");
    EXPECT_EQ(choice.other.guarantee.kind, GuaranteeKind::kOptimal);
    EXPECT_GE(choice.other.objective, why.objective);
  }
  EXPECT_EQ(why.n_questions, 7u);  // 4 doubled, 3 held or not
  options_.constraints.storage = {
      {"x_here", std::nullopt, why.holdings[0].memory, {why.holdings[0].tensor}, {}}};
  EXPECT_EQ(explained().holdings[0].other.reason, "the constraint x_here decides it");
}

TEST_F(WhyTest, TheUsersConstraintLeavesNoOtherChoice) {
  options_.constraints.fusion = {{"on_chip", TensorId(2), true, std::nullopt}};
  ASSERT_EQ(problem_.workload[TensorId(2)].name, "H");
  const Explanation why = explained();
  ASSERT_EQ(why.exchanges.size(), 1u);
  EXPECT_EQ(why.exchanges.front().other.kind, Answer::Kind::kNotSearched);
  EXPECT_EQ(why.exchanges.front().other.reason, "the constraint on_chip decides it");
  EXPECT_EQ(why.n_questions, 6u);
}

TEST_F(WhyTest, SaysThatThereIsNoOtherChoice) {
  std::string text = kChain;
  const std::string may = ", may_keep: All";
  use(text.erase(text.find(may), may.size()));  // Main must not hold H
  const Explanation why = explained();
  ASSERT_EQ(why.exchanges.size(), 1u);
  EXPECT_EQ(why.exchanges.front().other.kind, Answer::Kind::kNoMapping);
}

// Ctrl-C in the fourth question: three answers stay.
TEST_F(WhyTest, AnInterruptedExplanationKeepsWhatItHas) {
  const Explanation why =
      explained([this](const std::string&, double, std::size_t question, std::size_t) {
        if (question == 4) cancel_ = true;
      });
  EXPECT_TRUE(why.is_interrupted);
  EXPECT_EQ(why.n_answers, 3u);
  EXPECT_EQ(why.shadow_prices[0].answer.guarantee.kind, GuaranteeKind::kOptimal);
  EXPECT_EQ(why.shadow_prices[3].answer.kind, Answer::Kind::kNotSearched);
  EXPECT_EQ(why.shadow_prices[3].answer.reason, "interrupted");
}

TEST_F(WhyTest, NothingIsSearchedWhereTheBudgetIsOver) {
  options_.budget_seconds = 0;
  const Explanation why = explained();
  EXPECT_EQ(why.n_answers, 0u);
  EXPECT_FALSE(why.is_interrupted);
  EXPECT_EQ(why.shadow_prices[0].answer.reason, "the budget is over");
  EXPECT_EQ(why.einsums.front().latency_s, 256);  // this needs no search
}

// With `min_usage` the mapping in hand bounds no search, but is better than what a short one finds.
TEST_F(WhyTest, NothingFoundEarlyIsWorseThanWhatIsInHand) {
  std::string text = kChain;
  const std::string fanout = "fanout: 2";
  use(text.replace(text.find(fanout), fanout.size(), "fanout: 2, min_usage: 1"));
  options_.budget_seconds = 0.02;  // for seven searches
  for (const ShadowPrice& price : explained().shadow_prices)
    if (price.answer.guarantee.kind != GuaranteeKind::kOptimal &&
        price.answer.kind != Answer::Kind::kNotSearched) {
      EXPECT_EQ(price.answer.kind, Answer::Kind::kFound);
      EXPECT_LE(price.answer.objective, found_.mappings.front().cost.edp_js());
    }
}

TEST_F(WhyTest, EqualEinsumsAreSearchedOnce) {
  std::string text = kChain;
  const std::string second = "Y[m,l] = H[m,n] * B[n,l]";
  use(text.replace(text.find(second), second.size(), "Y[m,l] = G[m,n] * B[n,l]"));
  EXPECT_EQ(explained().n_questions, 5u);  // 1 alone, 4 doubled
}

TEST_F(WhyTest, AnEinsumThatMakesNoSenseAloneSaysWhy) {
  std::string text = kChain;
  const std::string mac = "{name: MAC,";
  use(text.replace(text.find(mac), mac.size(), mac + " enabled: len(Intermediates) == 1,"));
  const Explanation why = explained();
  EXPECT_EQ(why.einsums.front().alone->kind, Answer::Kind::kNotSearched);
  EXPECT_THAT(why.einsums.front().alone->reason, HasSubstr("no compute accepts the Einsum H"));
  EXPECT_EQ(why.n_answers, why.n_questions);
}

TEST_F(WhyTest, AMachineThatCannotBeDoubledSaysWhy) {
  std::string text = kChain;  // two things with the name of an action
  const std::string lane = "name: lane";
  use(text.replace(text.find(lane), lane.size(), "name: compute"));
  const Explanation why = explained();
  EXPECT_EQ(why.shadow_prices[2].answer.kind, Answer::Kind::kNotSearched);
  EXPECT_THAT(why.shadow_prices[2].answer.reason, HasSubstr("are named 'compute'"));
}

}  // namespace
}  // namespace sluice::cli
