// Pipelined and parallel splits by hand: what is there at the same time, `overlap` and `staged`
// (COMET eq. 5 to 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

using Seconds = std::map<std::string, double>;

Seconds named(const LatencyBreakdown& parts) {
  Seconds result;
  for (const LatencyPart& part : parts)
    if (part.seconds != 0) result[part.name] = part.seconds;
  return result;
}

/// T and E one after the other below a loop over m of 4 steps: T sums 2 points of k on MAC (1 s
/// each), E is one point on SIMD (2 s). DRAM has separate ports.
struct Concurrent : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"k", 2}}, 1)
                   .einsum("T[m] = A[m,k] * B[k]")
                   .einsum("E[m] = T[m] * D[m]")
                   .workload;
  Arch arch;
  Concurrent() {
    Component dram = memory("DRAM", "inf", "Nothing", 0, 2);
    std::get<Memory>(dram.kind).ports = Ports::kSeparate;
    arch.components = {dram, memory("GB", "inf", "Nothing", 0, kUnbounded),
                       compute("SIMD", {{"compute", 0, 0.5, 1, 0, {}}, {"exp", 0, 0.1, 1, 0, {}}}),
                       compute("MAC", {{"compute", 0, 1, 1, 0, {}}})};
  }
  void set_dram(double values_per_second) {
    for (Action& action : arch.components[0].actions) action.throughput = values_per_second;
  }
  Node split(SplitKind kind, std::vector<NodeList> children) const {
    SplitNode node;
    node.kind = kind;
    node.children = std::move(children);
    return {node};
  }
  std::vector<NodeList> children() const {
    const MappingBuilder b(w, arch);
    return {{b.storage("GB", {"A"}), b.temporal("k", 1), b.compute("T", "MAC")},
            {b.storage("GB", {"E"}), b.compute("E", "SIMD")}};
  }
  NodeList nodes(SplitKind kind) const {
    const MappingBuilder b(w, arch);
    return {b.storage("DRAM", {"A", "E"}), b.storage("GB", {"B", "D"}), b.temporal("m", 1),
            b.storage("GB", {"T"}), split(kind, children())};
  }
  Cost cost(NodeList nodes, LatencyPolicy policy) {
    const auto result = evaluate(bound(w, arch), Mapping{std::move(nodes), {}}, policy);
    if (!result) throw std::runtime_error(messages(result.error()));
    return *result;
  }
};

// MAC 8 s, SIMD 8 s, DRAM 8 reads and 4 writes, 4 + 2 s: 8 + 8 one after the other, 8 side by side.
TEST_F(Concurrent, OverlapTakesTheBusiestComponentOfAllChildren) {
  EXPECT_EQ(cost(nodes(SplitKind::kSequential), LatencyPolicy::kOverlap).latency_s, 16);
  EXPECT_EQ(cost(nodes(SplitKind::kPipeline), LatencyPolicy::kOverlap).latency_s, 8);
  set_dram(0.5);  // 16 + 8 s
  EXPECT_EQ(cost(nodes(SplitKind::kPipeline), LatencyPolicy::kOverlap).latency_s, 24);
}

// B 2, D 4, T 1, and A or E 1; in a pipeline T of two steps, and A and E.
TEST_F(Concurrent, APipelineHoldsATileForEachStepInFlight) {
  EXPECT_EQ(peak_bits(cost(nodes(SplitKind::kSequential), LatencyPolicy::kOverlap), arch, "GB"), 8);
  EXPECT_EQ(peak_bits(cost(nodes(SplitKind::kPipeline), LatencyPolicy::kOverlap), arch, "GB"), 10);
}

// What a child keeps during the whole run is there once, whichever child runs.
TEST_F(Concurrent, WhatIsPersistentIsHeldOnce) {
  NodeList list = nodes(SplitKind::kPipeline);
  auto& children = std::get<SplitNode>(list.back().kind).children;
  std::get<StorageNode>(children.front().front().kind).persistent = true;
  EXPECT_EQ(peak_bits(cost(list, LatencyPolicy::kOverlap), arch, "GB"), 10);
}

// One step: nothing is in flight. All of T stands between the loop and the split, 4 values.
TEST_F(Concurrent, WithoutStepsNothingIsHeldTwice) {
  const MappingBuilder b(w, arch);
  NodeList list = {b.storage("DRAM", {"A", "E"}), b.storage("GB", {"B", "D", "T"}),
                   split(SplitKind::kPipeline, children())};
  for (NodeList& child : std::get<SplitNode>(list.back().kind).children)
    child.insert(child.end() - 1, b.temporal("m", 1));
  EXPECT_EQ(peak_bits(cost(list, LatencyPolicy::kOverlap), arch, "GB"), 2 + 4 + 4 + 1 + 1);
}

// GB of 9 bits holds the one but not the other.
TEST_F(Concurrent, SaysWhatIsTooMuchAtTheSameTime) {
  arch.components[1] = memory("GB", "9", "Nothing", 0, kUnbounded);
  EXPECT_EQ(why_illegal(w, arch, nodes(SplitKind::kSequential)), "");
  const std::string why = why_illegal(w, arch, nodes(SplitKind::kPipeline));
  EXPECT_THAT(why, HasSubstr("needs 10"));
  EXPECT_THAT(why, HasSubstr("D 4 = [4] × 1 bit, "));
  EXPECT_THAT(why, HasSubstr("T 2 = [1] × 1 bit × 2 steps at a time"));
}

// T: 2 · 1 + 0.5 for the first value of A; E: 2 + 0.5 for its drain: the same, 4 · 2.5. DRAM works
// 1 + 0.5 s of them, no conflict.
TEST_F(Concurrent, StagedTakesTheLongestChild) {
  const Cost result = cost(nodes(SplitKind::kPipeline), LatencyPolicy::kStaged);
  EXPECT_EQ(result.latency_s, 10);
  EXPECT_EQ(named(result.breakdown), (Seconds{{"compute", 8}, {"compulsory_stall", 2}}));
  EXPECT_EQ(cost(nodes(SplitKind::kSequential), LatencyPolicy::kStaged).latency_s, 20);
}

// T: 2 · 1 + 2 + (2 − 1) · (2 − 1) = 5; E: 2 + 2 = 4. DRAM: 2 values read, 4 s, and one written,
// 2 s: 4 + 2 − 5 = 1 s of conflict a step (eq. 7).
TEST_F(Concurrent, StagedAddsTheConflictOnASharedMemory) {
  set_dram(0.5);
  const Cost result = cost(nodes(SplitKind::kPipeline), LatencyPolicy::kStaged);
  EXPECT_EQ(
      named(result.breakdown),
      (Seconds{{"compute", 8}, {"compulsory_stall", 8}, {"optional_stall", 4}, {"conflicts", 4}}));
  EXPECT_EQ(result.latency_s, 24);
}

TEST_F(Concurrent, LeaksForAsLongAsItTakes) {
  arch.components[1].leak_power_w = 1;
  EXPECT_DOUBLE_EQ(cost(nodes(SplitKind::kPipeline), LatencyPolicy::kOverlap).leak_energy_j, 8);
  EXPECT_DOUBLE_EQ(cost(nodes(SplitKind::kPipeline), LatencyPolicy::kStaged).leak_energy_j, 10);
}

TEST_F(Concurrent, ParallelChildrenCannotDependOnEachOther) {
  EXPECT_EQ(
      why_illegal(w, arch, nodes(SplitKind::kParallel)),
      "The children of a parallel split run at the same time; the Einsum E reads T, which the "
      "Einsum T makes in another child.\n");
}

// Two sums of the same A: each child fills its own A, so no conflict more than both fills.
TEST_F(Concurrent, ParallelChildrenTakeTheLongest) {
  w = WorkloadBuilder({{"m", 4}, {"k", 2}}, 1)
          .einsum("T[m] = A[m,k] * B[k]")
          .einsum("E[m] = D[m]")
          .workload;
  // T as above, 2.5 s; E: D 0.5 s, 2 s, E 0.5 s.
  const MappingBuilder b(w, arch);
  NodeList list = {b.storage("DRAM", {"A", "D", "E"}), b.storage("GB", {"B", "T"}),
                   b.temporal("m", 1), split(SplitKind::kParallel, children())};
  auto& second = std::get<SplitNode>(list.back().kind).children[1];
  second.insert(second.begin(), b.storage("GB", {"D"}));
  EXPECT_EQ(cost(list, LatencyPolicy::kStaged).latency_s, 4 * 3);
  EXPECT_EQ(cost(list, LatencyPolicy::kOverlap).latency_s, 8);
  EXPECT_EQ(peak_bits(cost(list, LatencyPolicy::kOverlap), arch, "GB"), 2 + 4 + 1 + 1 + 1);
}

TEST_F(Concurrent, PolicyPipelineSaysThatItCannot) {
  const auto result =
      evaluate(bound(w, arch), Mapping{nodes(SplitKind::kPipeline), {}}, LatencyPolicy::kPipeline);
  ASSERT_FALSE(result);
  EXPECT_THAT(messages(result.error()), HasSubstr("cannot price a pipelined split"));
}

// RM of a step needs LM of the same step, and LM needs RM of the step before.
TEST_F(Concurrent, APipelineCannotRunACycle) {
  w = WorkloadBuilder({{"i", 4}}, 1)
          .rank("RI", 5)
          .einsum("LM[i] = A[i] * RM[RI:i]")
          .einsum("RM[RI:i+1] = LM[i]")
          .workload;
  const MappingBuilder b(w, arch);
  const NodeList list = {
      b.storage("DRAM", {"A", "RM"}), b.temporal("i", 1), b.storage("GB", {"LM"}),
      split(SplitKind::kPipeline, {{b.compute("LM", "MAC")}, {b.compute("RM", "MAC")}})};
  EXPECT_THAT(why_illegal(w, arch, list), HasSubstr("depend on each other in a cycle: the Einsum LM"
                                                    " reads RM"));
}

// Two steps over j in each step over i: RM of i is made a slot after LM of (i, j), and read by LM
// of (i + 1, j), two slots later.
TEST_F(Concurrent, AStateThatComesBackInTimeIsLegalButNotPriced) {
  w = WorkloadBuilder({{"i", 4}, {"j", 2}}, 1)
          .rank("RI", 5)
          .einsum("LM[i,j] = A[i,j] * RM[RI:i,j]")
          .einsum("RM[RI:i+1,j] = LM[i,j]")
          .workload;
  const MappingBuilder b(w, arch);
  const auto nodes = [&](std::vector<Node> loops) {
    NodeList list = {b.storage("DRAM", {"A", "RM"})};
    for (Node& loop : loops) list.push_back(std::move(loop));
    list.push_back(b.storage("GB", {"LM"}));
    list.push_back(
        split(SplitKind::kPipeline, {{b.compute("LM", "MAC")}, {b.compute("RM", "MAC")}}));
    return list;
  };
  const Mapping in_time{nodes({b.temporal("i", 1), b.temporal("j", 1)}), {}};
  const auto evaluation = evaluate(bound(w, arch), in_time);
  ASSERT_FALSE(evaluation);
  for (const Violation& violation : evaluation.error())
    EXPECT_EQ(violation.kind, ViolationKind::kUnsupportedNode) << violation.message;
  EXPECT_THAT(why_illegal(w, arch, nodes({b.temporal("j", 1), b.temporal("i", 1)})),
              HasSubstr("depend on each other in a cycle"));
}

}  // namespace
}  // namespace sluice::testing
