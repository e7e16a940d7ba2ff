#include <gtest/gtest.h>

#include <atomic>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::Extras kExtras = {
    .tolls = true, .double_variables = true, .normalisations = true};
constexpr double kRounding = 1e-12;  ///< sums of the same terms in another order

using Outcome = tl::expected<MapperResult, NoMapping>;

Outcome run(const char* mapper, const BoundProblem& problem, const MapperOptions& options) {
  return run_mapper(*standard_mappers().find(mapper), problem, options, {});
}

double objective_of(const MappedResult& mapped, Objective objective) {
  return objective_value(objective, mapped.cost.energy_j, mapped.cost.latency_s);
}

class ExhaustiveSearch : public ::testing::TestWithParam<ImperfectFactors> {};

TEST_P(ExhaustiveSearch, FindsTheOptimumThatTheFusedMapperProves) {
  const testing::RandomCases cases = testing::random_cases(36);
  int compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    oracle::ProblemSpec spec = oracle::random_problem(seed, kExtras);
    if (GetParam() != ImperfectFactors::kNone) spec = oracle::with_one_long_rank(spec, seed);
    const BoundProblem problem = oracle::written_problem(spec);
    MapperOptions options = oracle::options_of(spec);
    const Objective objective = objective_table()[seed % objective_table().size()].objective;
    options.objectives = {objective};
    options.imperfect_factors = GetParam();
    options.budget_evaluations = 3000;
    const Outcome all = run("exhaustive", problem, options);
    const bool complete = all ? all->guarantee.kind == GuaranteeKind::kOptimal : all.error().proven;
    if (!complete) continue;
    options.budget_evaluations.reset();
    const Outcome fused = run("fused", problem, options);
    ++compared;
    ASSERT_EQ(all.has_value(), fused.has_value()) << "seed " << seed << "\n"
                                                  << oracle::to_yaml(spec);
    if (!all) continue;
    const double best = objective_of(fused->mappings.front(), objective);
    EXPECT_NEAR(objective_of(all->mappings.front(), objective), best, kRounding * best)
        << "seed " << seed << "\n"
        << oracle::to_yaml(spec);
  }
  EXPECT_GT(compared, cases.count / 10);
}

INSTANTIATE_TEST_SUITE_P(Factors, ExhaustiveSearch,
                         ::testing::Values(ImperfectFactors::kNone, ImperfectFactors::kUnfused,
                                           ImperfectFactors::kAll));

/// The mappings of a result, with their prices, as text.
std::string text_of(const Outcome& outcome, const BoundProblem& problem) {
  if (!outcome) return outcome.error().reason;
  std::string text;
  for (const MappedResult& mapped : outcome->mappings)
    text += to_yaml(mapped.mapping, problem.workload, problem.arch);
  for (const ConvergencePoint& point : outcome->search.convergence)
    text += std::to_string(point.evaluations) + " " + std::to_string(point.objective) + "\n";
  return text;
}

class SamplingMapper : public ::testing::TestWithParam<const char*> {};

TEST_P(SamplingMapper, IsNeverBetterThanTheFusedOneAndTellsThePriceOfItsMapping) {
  const testing::RandomCases cases = testing::random_cases(60);
  int found = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::ProblemSpec spec = oracle::random_problem(seed, kExtras);
    const BoundProblem problem = oracle::bind_problem(spec);
    MapperOptions options = oracle::options_of(spec);
    options.seed = seed;
    const Outcome fused = run("fused", problem, options);
    options.budget_evaluations = 200;
    const Outcome sampled = run(GetParam(), problem, options);
    if (!sampled) continue;
    ASSERT_TRUE(fused) << "seed " << seed << "\n" << oracle::to_yaml(spec);
    const MappedResult& best = sampled->mappings.front();
    EXPECT_GE(objective_of(best, Objective::kEdp),
              (1 - kRounding) * objective_of(fused->mappings.front(), Objective::kEdp))
        << "seed " << seed << "\n"
        << oracle::to_yaml(spec) << to_yaml(best.mapping, problem.workload, problem.arch);
    const auto cost = evaluate(problem, best.mapping);
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->energy_j, best.cost.energy_j);
    EXPECT_EQ(cost->latency_s, best.cost.latency_s);
    EXPECT_EQ(sampled->search.convergence.back().objective, objective_of(best, Objective::kEdp));
    ++found;
  }
  EXPECT_GT(found, cases.count / 2);
}

TEST_P(SamplingMapper, DependsOnTheSeedAndNotOnThreads) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const oracle::ProblemSpec spec = oracle::random_problem(seed, kExtras);
    const BoundProblem problem = oracle::bind_problem(spec);
    MapperOptions options = oracle::options_of(spec);
    options.seed = seed;
    options.budget_evaluations = 300;
    const std::string once = text_of(run(GetParam(), problem, options), problem);
    options.threads = 3;
    EXPECT_EQ(text_of(run(GetParam(), problem, options), problem), once) << "seed " << seed;
  }
}

/// Cancels once progress was reported.
TEST_P(SamplingMapper, ReturnsTheBestSoFarWhenCancelled) {
  const oracle::ProblemSpec spec = oracle::random_problem(1, kExtras);
  const BoundProblem problem = oracle::bind_problem(spec);
  MapperOptions options = oracle::options_of(spec);
  options.budget_evaluations = 1e12;
  std::atomic<bool> cancel = false;
  MapperControl control;
  control.cancel = &cancel;
  control.progress = [&](const std::string&, double) { cancel = true; };
  const Outcome outcome =
      run_mapper(*standard_mappers().find(GetParam()), problem, options, control);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->cancelled);
  ASSERT_FALSE(outcome->mappings.empty());
  EXPECT_EQ(outcome->guarantee.kind, GuaranteeKind::kGap);
  EXPECT_LE(outcome->guarantee.bound, outcome->mappings.front().cost.edp_js());
  EXPECT_LT(outcome->search.mappings_evaluated, 1000);
}

TEST_P(SamplingMapper, StopsAtItsBudgetOfEvaluations) {
  const oracle::ProblemSpec spec = oracle::random_problem(1, kExtras);
  MapperOptions options = oracle::options_of(spec);
  options.budget_evaluations = 77;
  const Outcome outcome = run(GetParam(), oracle::bind_problem(spec), options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->search.mappings_evaluated, 77);
  EXPECT_EQ(outcome->search.convergence.back().evaluations, 77);
}

TEST_P(SamplingMapper, FindsAFrontOfSeveralObjectives) {
  const oracle::ProblemSpec spec = oracle::random_problem(1, kExtras);
  MapperOptions options = oracle::options_of(spec);
  options.objectives = {Objective::kEnergy, Objective::kLatency};
  options.budget_evaluations = 300;
  const Outcome outcome = run(GetParam(), oracle::bind_problem(spec), options);
  ASSERT_TRUE(outcome);
  for (std::size_t i = 1; i < outcome->mappings.size(); ++i) {
    EXPECT_GT(outcome->mappings[i].cost.energy_j, outcome->mappings[i - 1].cost.energy_j);
    EXPECT_LT(outcome->mappings[i].cost.latency_s, outcome->mappings[i - 1].cost.latency_s);
  }
}

/// Most placements hold no tile that fits with both dimensions in full use, and many nests are to
/// be tried before that is clear: the walks take what there is.
TEST_P(SamplingMapper, FillsFanoutsAsFarAsTheyCanBe) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(workload:
  rank_sizes: {B: 64, I: 2048, E: 5120, N: 16}
  bits_per_value: {All: 16}
  einsums: ["T[b,i,n] = X[b,i,e] * W[e,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 8, throughput: 64}, {name: write, energy: 8, throughput: 64}]}
  - !Memory {name: Local, size: 1 MiB, spatial: [{name: z, fanout: 4, min_usage: 1}], tensors: {keep: X | T}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 128, reuse: X, min_usage: 1}, {name: y, fanout: 128, reuse: T, min_usage: 1}]}
  - !Memory {name: Register, size: 16, tensors: {keep: W}, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs);
  MapperOptions options;
  options.budget_evaluations = 40;
  const BoundProblem problem = *bind(*specs->workload, *specs->arch);
  const Outcome outcome = run(GetParam(), problem, options);
  ASSERT_TRUE(outcome) << outcome.error().reason;
  EXPECT_NE(to_yaml(outcome->mappings.front().mapping, problem.workload, problem.arch)
                .find("rank_variable: n, tile_shape: 1, name: x"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, SamplingMapper,
                         ::testing::Values("random", "anneal", "genetic", "iterative"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sluice
