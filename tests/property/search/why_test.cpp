// The answers of `map --why` are what brute force finds.
#include <gtest/gtest.h>

#include "cli/why/accounts.h"
#include "cli/why/changes.h"
#include "cli/why/explain.h"
#include "mapper/common/part_of_problem.h"
#include "oracle/compare.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/support/error.h"
#include "support/random_cases.h"

namespace sluice::cli {
namespace {

constexpr oracle::EnumerationLimits kCasesOfWhy = {.max_nests = 20'000, .max_evaluations = 300};
constexpr oracle::EnumerationLimits kLargerCasesOfWhy = {.max_nests = 60'000,
                                                         .max_evaluations = 3'000};

/// With all that its YAML says; nothing where the front end refuses that.
std::optional<BoundProblem> written(const oracle::ProblemSpec& spec) try {
  return oracle::written_problem(spec);
} catch (const InternalError&) {
  return std::nullopt;
}

class WhyAgainstBruteForce {
 public:
  /// Whether there is a mapping to explain.
  bool check(const oracle::RandomCase& drawn) {
    const auto problem = written(drawn.spec);
    if (!problem) return false;
    const Mapper& mapper = *standard_mappers().find("fused");
    options_ = drawn.options;
    options_.objectives = {Objective::kEdp};
    options_.resource_usage = false;
    const auto found = run_mapper(mapper, *problem, options_, {});
    if (!found) return false;
    const MappedResult& best = found->mappings.front();
    const std::atomic<bool> cancel{false};
    const Explanation why = explain({mapper, *problem, best.mapping, best.cost, found->guarantee},
                                    options_, cancel, {});
    EXPECT_EQ(why.n_answers, why.n_questions);
    for (const ShadowPrice& price : why.shadow_prices) {
      const auto changed = with_doubled(*problem, price);
      EXPECT_TRUE(changed.has_value());
      if (!changed) return true;
      compare(price.answer, *changed, options_);
    }
    for (const ExchangeChoice& choice : why.exchanges) {
      MapperOptions other = options_;
      other.constraints.fusion.push_back(other_choice(choice));
      compare_with_exhaustive(choice.other, *problem, other);
    }
    for (const HoldingChoice& choice : why.holdings) {
      MapperOptions other = options_;
      other.constraints.storage.push_back(other_choice(choice));
      compare_with_exhaustive(choice.other, *problem, other);
    }
    for (const EinsumAccount& account : why.einsums)
      if (account.alone)
        compare(*account.alone, part_of_problem(*problem, {account.einsum}), options_);
    return true;
  }

  int compared() const { return compared_; }

 private:
  void compare(const Answer& answer, const BoundProblem& problem, const MapperOptions& options) {
    const oracle::Enumeration truth = oracle::enumerate(problem, options, kLargerCasesOfWhy);
    if (truth.exceeded) return;
    EXPECT_EQ(answer.kind == Answer::Kind::kFound, truth.best_edp.has_value()) << answer.reason;
    if (!truth.best_edp || answer.kind != Answer::Kind::kFound) return;
    const double best = truth.best_edp->point.energy_j * truth.best_edp->point.latency_s;
    EXPECT_NEAR(answer.objective, best, 1e-12 * best);
    EXPECT_EQ(answer.guarantee.kind, GuaranteeKind::kOptimal);
    ++compared_;
  }

  /// Brute force knows no constraints.
  void compare_with_exhaustive(const Answer& answer, const BoundProblem& problem,
                               const MapperOptions& options) {
    if (answer.kind != Answer::Kind::kFound) return;  // also where a rule of the architecture is
    const auto found = run_mapper(*standard_mappers().find("exhaustive"), problem, options, {});
    if (!found) {
      EXPECT_FALSE(found.error().proven) << found.error().reason;
      return;
    }
    const double best = found->mappings.front().cost.edp_js();
    EXPECT_NEAR(answer.objective, best, 1e-12 * best);
    ++compared_;
  }

  MapperOptions options_;
  int compared_ = 0;
};

TEST(Why, AnswersAreWhatBruteForceFinds) {
  const testing::RandomCases cases = testing::random_cases(16);
  WhyAgainstBruteForce check;
  std::int64_t explained = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(seed);
    explained += check.check(oracle::random_case(seed, kCasesOfWhy, oracle::kProvenExtras)) ? 1 : 0;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(explained, cases.count / 2);
  EXPECT_GT(check.compared(), 4 * explained);
}

}  // namespace
}  // namespace sluice::cli
