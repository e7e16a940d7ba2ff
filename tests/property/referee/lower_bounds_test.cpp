// No mapping beats the lower bounds of its problem, padded inputs included.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/evaluate/take_apart.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/concurrent_bounds.h"
#include "sluice/model/einsum_bounds.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

bool runs_one_by_one(const NodeList& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
    const auto* split = std::get_if<SplitNode>(&node.kind);
    return split == nullptr ||
           (split->kind == SplitKind::kSequential &&
            std::all_of(split->children.begin(), split->children.end(), runs_one_by_one));
  });
}

bool has_perfect_factors(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport violations(problem, mapping);
  const FlatTree tree = take_apart(problem, mapping, violations);
  return std::all_of(tree.nests.begin(), tree.nests.end(),
                     [](const Nest& nest) { return nest.perfect; });
}

struct EnergyAndTime {
  double energy_j = 0, seconds = 0;
};

/// Of the Einsums one by one.
EnergyAndTime sum_of_einsum_bounds(const BoundProblem& problem) {
  EnergyAndTime sum;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const CostBounds own = einsum_bounds(problem, EinsumId(e));
    sum.energy_j += own.energy_floor_j;
    sum.seconds += std::max(own.compute_s, own.memory_s);
  }
  return sum;
}

Result<BoundProblem> load(const std::string& text) {
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  if (!specs) return tl::make_unexpected(specs.error());
  return bind(*specs->workload, *specs->arch);
}

TEST(LowerBounds, HoldForEveryLegalMapping) {
  constexpr double kRounding = 1 + 1e-12;
  const testing::RandomCases cases = testing::random_cases(2000);
  std::int64_t n_priced = 0, n_padded = 0, n_perfect = 0, n_sharper = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    std::string why;
    const auto triple = triples::load(triples::random_triple(seed), &why);
    if (!triple) continue;
    const auto cost = evaluate(triple->problem, triple->mapping);
    if (!cost || !keep_violations(triple->problem, triple->mapping).empty()) continue;
    const CostBounds bounds = concurrent_bounds(triple->problem);
    EXPECT_LE(bounds.energy_floor_j, cost->energy_j * kRounding) << "seed " << seed;
    EXPECT_LE(std::max(bounds.compute_s, bounds.memory_s), cost->latency_s * kRounding)
        << "seed " << seed;
    if (has_perfect_factors(triple->problem, triple->mapping)) {
      const CostBounds perfect = concurrent_bounds(triple->problem, Factors::kPerfect);
      EXPECT_LE(perfect.energy_floor_j, cost->energy_j * kRounding) << "seed " << seed;
      EXPECT_LE(std::max(perfect.compute_s, perfect.memory_s), cost->latency_s * kRounding)
          << "seed " << seed;
      ++n_perfect;
      n_sharper += perfect.energy_floor_j > bounds.energy_floor_j * kRounding;
    }
    if (runs_one_by_one(triple->mapping.nodes)) {
      const EnergyAndTime sum = sum_of_einsum_bounds(triple->problem);
      EXPECT_LE(sum.energy_j, cost->energy_j * kRounding) << "seed " << seed;
      EXPECT_LE(sum.seconds, cost->latency_s * kRounding) << "seed " << seed;
    }
    ++n_priced;
    n_padded += cost->padding_values > 0;
  }
  EXPECT_GT(n_priced, cases.count / 10);
  EXPECT_GT(n_padded, 0);
  EXPECT_GT(n_perfect, n_priced / 10);
  EXPECT_GT(n_sharper, 0);
}

// I[p+r-1] touches 8 + 3 - 1 = 10 values, of which the rank has 8; with 3 of W, all are read from
// the memory at 1 J and 1 Hz for a value, as one that holds everything below does. 8 are written.
TEST(LowerBounds, CountThePaddingOfInputs) {
  const auto problem = load(R"yaml(workload:
  rank_sizes: {I: 8, P: 8}
  bits_per_value: {All: 8}
  iteration_space_shape: {r: 0 <= r < 3}
  einsums: ["O[p] = X[I:p+r-1] * W[r]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1, bits_per_action: 8}, {name: write, energy: 1, throughput: 1, bits_per_action: 8}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: inf}]}
)yaml");
  ASSERT_TRUE(problem.has_value()) << to_string(problem.error());
  EXPECT_EQ(problem->bounds.energy_floor_j, 10 + 3 + 8);
  EXPECT_EQ(problem->bounds.memory_s, 10 + 3 + 8);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto found = run_mapper(*standard_mappers().find("fused"), *problem, options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mappings.front().cost.energy_j, 10 + 3 + 8);
  EXPECT_GT(found->mappings.front().cost.padding_values, 0);
}

// The buffers stand below four ports, but W stays in them during the whole run, above the loop over
// the ports: each of its two values is read once for all of them.
TEST(LowerBounds, ReadPersistentTensorsOnceForAllInstances) {
  const auto problem = load(R"yaml(workload:
  rank_sizes: {M: 4, K: 2}
  bits_per_value: {All: 8}
  persistent_tensors: W
  einsums: ["Z[m] = A[m,k] * W[k]"]
arch:
  nodes:
  - !Container {name: Rack, spatial: [{name: PORT, fanout: 4}]}
  - !Memory {name: Main, size: inf, tensors: {keep: ~W}, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: W, may_keep: Nothing}, actions: [{name: read, energy: 1, throughput: inf, bits_per_action: 8}, {name: write, energy: 1, throughput: inf, bits_per_action: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: 1}]}
)yaml");
  ASSERT_TRUE(problem.has_value()) << to_string(problem.error());
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto found = run_mapper(*standard_mappers().find("fused"), *problem, options, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mappings.front().cost.energy_j, 2);
  EXPECT_EQ(cost_bounds(*problem, Factors::kPerfect).energy_floor_j, 2);
}

/// Main memory, registers that read so many values a second and write twice as many, one compute.
Result<BoundProblem> product(const std::string& reads) {
  const std::string text = R"yaml(variables: {READS: )yaml" + reads + R"yaml(}
workload:
  rank_sizes: {M: 2, K: 4, N: 2}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf, bits_per_action: 8}, {name: write, energy: 1, throughput: inf, bits_per_action: 8}]}
  - !Memory {name: Registers, size: inf, leak_power: 3, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: READS, bits_per_action: 8}, {name: write, energy: 2, throughput: 2 * READS, bits_per_action: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 5, throughput: 1}]}
)yaml";
  return load(text);
}

// 16 points take 16 s and 80 J. Of each, the registers give two values at 1 J and take one at 2 J,
// since no memory further in holds it: 64 J. They give 16 - 4 sums back: 12 J. Main reads 8 + 8
// values and writes 4: 20 J. What is not power-gated leaks 3 W for 16 s: 48 J.
TEST(LowerBounds, CountOperandsAndLeakage) {
  const auto problem = product("inf");
  ASSERT_TRUE(problem.has_value()) << to_string(problem.error());
  EXPECT_EQ(problem->bounds.energy_floor_j, 80 + 64 + 12 + 20 + 48);
  EXPECT_EQ(overlap_bounds(*problem, problem->bounds).compute_s, 16);
}

// At 1 value a second the registers read 32 operands and 12 sums in 44 s, and write 16 in 8 s more.
TEST(LowerBounds, WaitForOperandsUnderOverlap) {
  const auto problem = product("1");
  ASSERT_TRUE(problem.has_value()) << to_string(problem.error());
  EXPECT_EQ(problem->bounds.compute_s, 16);
  const CostBounds bounds = overlap_bounds(*problem, problem->bounds);
  EXPECT_EQ(bounds.compute_s, 52);
  EXPECT_EQ(bounds.energy_floor_j, 80 + 64 + 12 + 20 + 3 * 52);
  MapperOptions options;
  options.objectives = {Objective::kLatency};
  const auto found = run_mapper(*standard_mappers().find("fused"), *problem, options, {});
  ASSERT_TRUE(found);
  EXPECT_GE(found->mappings.front().cost.latency_s, 52);
}

// 8 of 14 lanes each way: 64 · 64 · 64 points on 64 lanes, to the last one (14² · (8/14)²
// is 63.99…).
TEST(LowerBounds, UseAllLanesThatPerfectFactorsLeave) {
  const auto problem = load(R"yaml(workload:
  rank_sizes: {M: 64, K: 64, N: 64}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf, bits_per_action: 8}, {name: write, energy: 1, throughput: inf, bits_per_action: 8}]}
  - !Container {name: Lanes, spatial: [{name: X, fanout: 14}, {name: Y, fanout: 14}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 5, throughput: 1}]}
)yaml");
  ASSERT_TRUE(problem.has_value()) << to_string(problem.error());
  const CostBounds bounds = cost_bounds(*problem, Factors::kPerfect);
  EXPECT_DOUBLE_EQ(bounds.compute_s, 64 * 64);
  EXPECT_DOUBLE_EQ(bounds.operands_s, 64 * 64);
  // X spreads 8 rows over lanes that share B, Y 8 columns over lanes that share A, or the sums.
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto found = run_mapper(*standard_mappers().find("fused"), *problem, options, {});
  ASSERT_TRUE(found);
  EXPECT_LE(bounds.energy_floor_j, found->mappings.front().cost.energy_j * (1 + 1e-12));
}

}  // namespace
}  // namespace sluice
