// Every mapper of the fused space against brute force: what `exhaustive` visits to the end is the
// referee's optimum, and what others draw is never better.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kCasesOfMappers = {.max_nests = 500, .max_evaluations = 300};
constexpr double kOrderOfSums = 1e-12;  ///< sums of the same terms in another order

using Outcome = tl::expected<MapperResult, NoMapping>;

Outcome ask(const char* mapper, const BoundProblem& problem, MapperOptions options,
            double evaluations) {
  options.objectives = {Objective::kEdp};
  options.budget_evaluations = evaluations;
  return run_mapper(*standard_mappers().find(mapper), problem, options, {});
}

std::optional<double> edp_of(const Outcome& outcome) {
  if (!outcome) return std::nullopt;
  return objective_value(Objective::kEdp, outcome->mappings.front().cost);
}

/// Whether `exhaustive` saw all.
bool is_complete(const Outcome& outcome) {
  return outcome ? outcome->guarantee.kind == GuaranteeKind::kOptimal : outcome.error().proven;
}

/// Whether `exhaustive` could be compared.
bool expect_agreement(const oracle::RandomCase& drawn, std::uint64_t seed) {
  MapperOptions options = drawn.options;
  options.seed = seed;
  std::optional<double> best;
  if (const auto& known = drawn.truth.best_edp)
    best = objective_value(Objective::kEdp, known->point.energy_j, known->point.latency_s);
  const Outcome all = ask("exhaustive", drawn.problem, options, 2'000);
  if (is_complete(all)) {
    EXPECT_EQ(all.has_value(), best.has_value()) << oracle::to_yaml(drawn.spec);
    if (all && best) {
      EXPECT_NEAR(*edp_of(all), *best, kOrderOfSums * *best) << oracle::to_yaml(drawn.spec);
    }
  }
  for (const char* mapper : {"exhaustive", "random", "anneal", "genetic", "iterative"})
    if (const auto found = edp_of(ask(mapper, drawn.problem, options, 50))) {
      EXPECT_TRUE(best && *found >= *best * (1 - kOrderOfSums))
          << mapper << " finds " << *found << "\n"
          << oracle::to_yaml(drawn.spec);
    }
  return is_complete(all);
}

TEST(EveryMapper, FindsNothingBetterThanBruteForce) {
  const testing::RandomCases cases = testing::random_cases(20);
  std::int64_t complete = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    complete +=
        expect_agreement(oracle::random_case(seed, kCasesOfMappers, oracle::kAllExtras), seed);
  }
  EXPECT_GE(complete * 3, cases.count);
}

TEST(EveryMapper, FindsNothingBetterWhereRecurrencesAreToUseFanouts) {
  constexpr oracle::Extras kExtras = {.recurrences = true, .cycles = true, .stepped_usage = true};
  const testing::RandomCases cases = testing::random_cases(60);
  std::int64_t compared = 0, complete = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kCasesOfMappers, kExtras);
    if (!oracle::extras_of(drawn.spec).stepped_usage) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++compared;
    complete += expect_agreement(drawn, seed);
  }
  EXPECT_GE(compared * 20, cases.count);
  EXPECT_GE(complete * 3, compared);
}

/// The state in the buffer for all steps leaves no room for the steps' loop on the outside where
/// the instances of x are used: no mapping of the space does so. But a tile shape that fits can use
/// them, so one that does not is none of the space (specs.md, `min_usage`).
TEST(EveryMapper, AsksAStepForTheFanoutsThatItsTilesCanUse) {
  const auto specs = load_specs_from_text({{"problem.yaml", R"yaml(workload:
  rank_sizes: {M: 2, N: 2, MSTEP: 3}
  bits_per_value: {All: 8}
  initial: {A: 0}
  einsums: ["B[m,n] = A[MSTEP: m, N: n]", "A[MSTEP: m + 1, N: n] = B[m,n] * T[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 32, throughput: 32}, {name: write, energy: 48, throughput: 64}]}
  - !Container {name: Cluster, spatial: [{name: x, fanout: 4, may_reuse: Outputs, min_usage: 1}]}
  - !Memory {name: Buffer, size: 288, buffering: double, tensors: {keep: All, may_keep: All}, actions: [{name: read, energy: 4, throughput: 32}, {name: write, energy: 4, throughput: 64}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 3, throughput: 4}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs);
  const BoundProblem problem = *bind(*specs->workload, *specs->arch);
  MapperOptions options;
  options.max_fused_loops = 1;
  const auto truth = oracle::enumerate(problem, options);
  ASSERT_TRUE(truth.best_edp);
  const auto& best = truth.best_edp->point;
  for (const char* mapper : {"fused", "exhaustive"}) {
    const Outcome outcome = ask(mapper, problem, options, 1e5);
    ASSERT_TRUE(outcome) << mapper;
    EXPECT_EQ(outcome->guarantee.kind, GuaranteeKind::kOptimal) << mapper;
    EXPECT_DOUBLE_EQ(*edp_of(outcome), best.energy_j * best.latency_s) << mapper;
  }
}

}  // namespace
}  // namespace sluice
