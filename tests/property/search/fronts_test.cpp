// Fronts are what was asked for, whatever else ends a search: budgets, a bound that one of the
// objectives meets, sums that differ in their last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mapper/common/criteria.h"
#include "oracle/compare.h"
#include "oracle/compound/compound_case.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr oracle::EnumerationLimits kFewMappings = {.max_nests = 500, .max_evaluations = 300};

using Front = std::vector<std::vector<double>>;

struct Asked {
  Front front;  ///< sorted
  bool is_proven = false;
};

Asked ask(const char* mapper, const BoundProblem& problem, const MapperOptions& options) {
  const auto outcome = run_mapper(*standard_mappers().find(mapper), problem, options, {});
  if (!outcome) return {{}, outcome.error().proven};
  Asked asked{{}, outcome->guarantee.kind == GuaranteeKind::kOptimal};
  for (const MappedResult& mapped : outcome->mappings)
    asked.front.push_back(criteria_of(problem, options, mapped.cost));
  std::sort(asked.front.begin(), asked.front.end());
  return asked;
}

void expect_no_dominated(const Front& front) {
  for (std::size_t i = 0; i < front.size(); ++i)
    for (std::size_t k = 0; k < front.size(); ++k)
      EXPECT_FALSE(i != k && dominates(front[i], front[k])) << i << " beats " << k;
}

/// Sums of `fused` and of the model may differ in their last bits: the same points but for that.
bool is_same(const Front& a, const Front& b) {
  constexpr double kLastBits = 1e-11;
  const auto is_met = [](const std::vector<double>& own, const Front& others) {
    return std::any_of(others.begin(), others.end(), [&](const std::vector<double>& other) {
      for (std::size_t i = 0; i < own.size(); ++i)
        if (other[i] > own[i] * (1 + kLastBits)) return false;
      return true;
    });
  };
  return std::all_of(a.begin(), a.end(), [&](const auto& own) { return is_met(own, b); }) &&
         std::all_of(b.begin(), b.end(), [&](const auto& own) { return is_met(own, a); });
}

TEST(Fronts, AreTheSameWithABudgetThatIsNotOver) {
  const std::vector<std::vector<Objective>> kObjectives = {
      {Objective::kLatency}, {Objective::kEnergy}, {Objective::kEnergy, Objective::kLatency}};
  const testing::RandomCases cases = testing::random_cases(24);
  std::int64_t proven = 0, compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::RandomCase drawn = oracle::random_case(seed, kFewMappings);
    MapperOptions options = drawn.options;
    options.objectives = kObjectives[seed % kObjectives.size()];
    options.resource_usage = true;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + oracle::to_yaml(drawn.spec));
    const Asked free = ask("fused", drawn.problem, options);
    expect_no_dominated(free.front);
    MapperOptions limited = options;
    limited.budget_seconds = 60;
    const Asked within = ask("fused", drawn.problem, limited);
    expect_no_dominated(within.front);
    proven += within.is_proven;
    if (within.is_proven) {
      EXPECT_EQ(within.front, free.front);
    }
    limited.budget_evaluations = 2000;
    const Asked all = ask("exhaustive", drawn.problem, limited);
    expect_no_dominated(all.front);
    if (!all.is_proven || !free.is_proven) continue;
    ++compared;
    EXPECT_TRUE(is_same(all.front, free.front));
  }
  EXPECT_GT(proven, cases.count / 2);
  EXPECT_GT(compared, cases.count / 8);
}

// All mappings take 64 ns, which is the bound; that says nothing of what they hold.
TEST(Fronts, DoNotEndWhereOneObjectiveMeetsItsBound) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(workload:
  rank_sizes: {M: 4, K: 4, N: 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Memory {name: M1, size: 512, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Memory {name: M2, size: 512, actions: [{name: read, energy: 0.2 pJ/bit, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0.5 pJ, throughput: 1 GHz}]}
)yaml");
  MapperOptions options;
  options.objectives = {Objective::kLatency};
  options.resource_usage = true;
  options.budget_seconds = 60;
  const Asked asked = ask("fused", problem, options);
  EXPECT_TRUE(asked.is_proven);
  EXPECT_EQ(asked.front, (Front{{64e-9, 0, 0}}));
}

// Its makers and readers share no loop, and the memory that is to back it has no room for all of
// it: that is a no, not a mapping in which another one does.
TEST(BackingRule, LeavesNoMemoryFurtherOut) {
  const BoundProblem problem = oracle::bind_compound(R"yaml(workload:
  rank_sizes: {H: 4, P: 3}
  iteration_space_shape: {r: 0 <= r < 2}
  bits_per_value: {All: 8}
  einsums: ["T[h] = max(A[h], 0)", "Z[p] = T[H:p+r] * G[r]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 1 pJ, throughput: inf}, {name: write, energy: 1 pJ, throughput: inf}]}
  - !Memory {name: M1, size: 16, tensors: {back: T, may_keep: T}, actions: [{name: read, energy: 1 pJ, throughput: inf}, {name: write, energy: 1 pJ, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
)yaml");
  for (const char* mapper : {"fused", "exhaustive", "compound"})
    EXPECT_FALSE(run_mapper(*standard_mappers().find(mapper), problem, {}, {})) << mapper;
}

}  // namespace
}  // namespace sluice
