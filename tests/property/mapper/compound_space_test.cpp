// The enumerator of the compound space alone, on cases that can be counted by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/compound/compound_case.h"
#include "oracle/compound/compound_nest.h"
#include "sluice/mapper/objective_value.h"

namespace sluice {
namespace {

constexpr std::int64_t kMost = 10'000;

/// DRAM: 10 J a bit; OB: 1 J a bit; a core computes one operation of 1 J a second. All else is
/// free. `fan`: what stands between DRAM and OB.
std::string machine(const std::string& fan) {
  return R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 10, throughput: inf}, {name: write, energy: 10, throughput: inf}]}
)" + fan +
         R"(
  - !Memory {name: OB, size: inf, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1}]}
)";
}

const std::string kCores = "  - !Container {name: Core, spatial: [{name: kx, fanout: 2}]}\n";
const std::string kNetwork =
    "  - !Network {name: Mesh, topology: mesh, link_bandwidth: inf, hop_energy: 0}\n";

double best_value(const oracle::CompoundTruth& truth, Objective objective) {
  const auto& best = truth.of(objective);
  return best ? objective_value(objective, best->energy_j, best->latency_s) : -1;
}

TEST(CompoundSpace, OfOneEinsumHasEveryNestOnce) {
  // Core: nothing, or m over both cores.
  // Nothing, m = 2 left. OB holds nothing: the loop before the compute, 1 way. It holds A: without
  // a loop above; with m above; A above m: 3. B: 3. Both: no loop, or the 4 subsets of residents
  // above a loop: 5. Together 12. Both cores, m = 1 left: the 4 subsets that OB may hold.
  const std::string workload =
      "workload: {rank_sizes: {M: 2}, bits_per_value: {All: 1}, einsums: [\"B[m] = exp(A[m])\"]}";
  const BoundProblem problem = oracle::bind_compound(workload + machine(kCores));
  EXPECT_EQ(oracle::count_compound(problem, oracle::CompoundLimits{.most = kMost}), 16);
  EXPECT_EQ(oracle::count_compound(problem, oracle::CompoundLimits{.most = 15}), std::nullopt);
  const auto truth = oracle::enumerate_compound(problem, LatencyPolicy::kOverlap,
                                                oracle::CompoundLimits{.most = kMost});
  EXPECT_EQ(truth.mappings, 16);
  EXPECT_EQ(truth.legal, 16);
  EXPECT_TRUE(truth.refusals.empty());
  // Nothing in OB: 2 reads and 2 writes of DRAM, 2 operations. Both cores: 1 s.
  EXPECT_EQ(best_value(truth, Objective::kEnergy), 2 * 10 + 2 * 10 + 2);
  EXPECT_EQ(best_value(truth, Objective::kLatency), 1);
  EXPECT_EQ(best_value(truth, Objective::kEdp), 42);
}

TEST(CompoundSpace, OfTwoEinsumsHasEveryCutHomeFrameAndSplit) {
  // Two groups: 12 nests each (see above), 144 mappings.
  // One group, T at home in OB. Without a loop in the frame A and S are, each, not in OB, in their
  // child, or in the frame: 9 ways, Sequential. With m in the frame they may also be resident: 16
  // ways, Sequential or Pipeline. Together 41.
  const std::string workload =
      "workload: {rank_sizes: {M: 2}, bits_per_value: {All: 1}, einsums: [\"T[m] = exp(A[m])\", "
      "\"S[m] = exp(T[m])\"]}";
  const BoundProblem problem = oracle::bind_compound(workload + machine(""));
  const auto truth = oracle::enumerate_compound(problem, LatencyPolicy::kOverlap,
                                                oracle::CompoundLimits{.most = kMost});
  EXPECT_EQ(truth.mappings, 12 * 12 + 3 * 3 + 4 * 4 * 2);
  EXPECT_EQ(truth.legal, truth.mappings);
  // Fused: A and S pass DRAM, T is written and read in OB; 4 operations, one after another.
  EXPECT_EQ(best_value(truth, Objective::kEnergy), 2 * 10 + 2 * 10 + 2 + 2 + 4);
  EXPECT_EQ(best_value(truth, Objective::kLatency), 4);
}

TEST(CompoundSpace, SpreadsAReductionWithAnAllReduceWhereThatIsBest) {
  // A[m,n] 1 × 4. Fused and spread over two cores: 2 + 2 s, the all-reduce is free but for OB.
  //   DRAM: 4 values of A for each of two Einsums, 4 of S: 120.
  //   MX in OB: each core writes 2 maxima and reads one back: 4 + 2; the all-reduce (recursive
  //   halving and doubling) reads and writes 2 and combines 1: 5 (recursive doubling combines 2);
  //   the difference reads 4. 8 operations. 120 + 6 + 5 + 4 + 8 = 143 J, 572 J·s.
  // On one core, 8 s: without the all-reduce, but a third maximum is read back: 143 − 5 + 1 = 139
  // J. Two groups, 4 s at best: MX goes out and in of DRAM: 120 + 20 + 8 = 148 J or more.
  const std::string workload =
      "workload: {rank_sizes: {M: 1, N: 4}, bits_per_value: {All: 1}, einsums: [\"MX[m] = "
      "max(A[m,n])\", \"S[m,n] = A[m,n] - MX[m]\"]}";
  const BoundProblem problem = oracle::bind_compound(workload + machine(kNetwork + kCores));
  const auto truth = oracle::enumerate_compound(problem, LatencyPolicy::kOverlap,
                                                oracle::CompoundLimits{.most = kMost});
  ASSERT_TRUE(truth.of(Objective::kEdp));
  const oracle::CompoundBest& best = *truth.of(Objective::kEdp);
  const std::string text = to_yaml(best.mapping, problem.workload, problem.arch);
  EXPECT_EQ(best.energy_j, 143) << text;
  EXPECT_EQ(best.latency_s, 4) << text;
  EXPECT_NE(text.find("!Collective {type: all_reduce, tensor: MX, op: max, src: OB, over: [kx]"),
            std::string::npos)
      << text;
  EXPECT_EQ(best_value(truth, Objective::kEnergy), 139);
}

TEST(CompoundSpace, ReductionsAreSpreadOverNetworksOnly) {
  const std::string workload =
      "workload: {rank_sizes: {M: 1, N: 4}, bits_per_value: {All: 1}, einsums: [\"MX[m] = "
      "max(A[m,n])\", \"S[m,n] = A[m,n] - MX[m]\"]}";
  const BoundProblem problem = oracle::bind_compound(workload + machine(kCores));
  const auto truth = oracle::enumerate_compound(problem, LatencyPolicy::kOverlap,
                                                oracle::CompoundLimits{.most = kMost});
  EXPECT_TRUE(truth.refusals.empty()) << truth.refusals.begin()->first;
  ASSERT_TRUE(truth.of(Objective::kEdp));
  EXPECT_EQ(to_yaml(truth.of(Objective::kEdp)->mapping, problem.workload, problem.arch)
                .find("Collective"),
            std::string::npos);
}

TEST(CompoundSpace, OfRandomCasesIsPricedWithoutSurprises) {
  // What evaluate may refuse: a loop of the frame over variables that some Einsum does not use; an
  // all_reduce across a container without a network over which something else is spread, or by an
  // algorithm that is not for the network; a copy below a pipelined split.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const oracle::CompoundCase drawn = oracle::random_compound_case(seed, 1'000);
    EXPECT_LE(drawn.truth.mappings, 1'000);
    EXPECT_EQ(drawn.truth.legal > 0, drawn.truth.of(Objective::kEnergy).has_value());
    for (const auto& [message, mapping] : drawn.truth.refusals)
      EXPECT_TRUE(message.find(" repeats the Einsum ") != std::string::npos ||
                  message.find("its messages have no way") != std::string::npos ||
                  message.find("it cannot be performed. The algorithm ") != std::string::npos ||
                  message.find("cannot price the copy ") != std::string::npos)
          << message << "\n"
          << drawn.yaml << to_yaml(mapping, drawn.problem.workload, drawn.problem.arch);
  }
}

}  // namespace
}  // namespace sluice
