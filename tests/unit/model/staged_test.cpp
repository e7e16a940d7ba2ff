// Policy staged by hand: Lat = n · window + compulsory stalls + optional stalls (COMET eq. 2).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sluice/model/stalls.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using Seconds = std::map<std::string, double>;

Seconds named(const LatencyBreakdown& parts) {
  Seconds result;
  for (const LatencyPart& part : parts) result[part.name] = part.seconds;
  return result;
}

Seconds parts(double compute, double simd, double compulsory, double optional) {
  return {{"compute", compute},         {"simd", simd},     {"compulsory_stall", compulsory},
          {"optional_stall", optional}, {"collectives", 0}, {"conflicts", 0}};
}

/// DRAM with separate ports, a buffer as fast as you like, a multiplier of one point a second and a
/// SIMD unit (more than multiply-adds) of half a point a second.
struct Staged : ::testing::Test {
  Workload w;
  Arch arch;
  Staged() {
    Component dram = memory("DRAM", "inf", "Nothing", 0, 2);
    std::get<Memory>(dram.kind).ports = Ports::kSeparate;
    const Component buffer = memory("GB", "inf", "Nothing", 0, kUnbounded);
    arch.components = {dram, buffer,
                       compute("SIMD", {{"compute", 0, 0.5, 1, 0, {}}, {"exp", 0, 0.1, 1, 0, {}}}),
                       compute("MAC", {{"compute", 0, 1, 1, 0, {}}})};
  }
  void set_dram(double values_per_second) {
    for (Action& action : arch.components[0].actions) action.throughput = values_per_second;
  }
  Cost cost(NodeList nodes, LatencyPolicy policy = LatencyPolicy::kStaged) {
    const BoundProblem problem = bound(w, arch);
    const auto result = evaluate(problem, Mapping{std::move(nodes), {}}, policy);
    if (!result) throw std::runtime_error(messages(result.error()));
    return *result;
  }
  void use_matmul() { w = tiled_matmul_workload(); }
  NodeList tiled() const { return tiled_matmul_nodes(w, arch); }
};

// Leaf: 16 s of compute. Loop over k, 2 steps: A and B are 16 values, 8 s: 2 · 16 + 8 = 40, and no
// optional stall (8 < 16). Loop over m, 2 steps: C drains in 2 s: 2 · 40 + 2 = 82.
TEST_F(Staged, WaitsForTheFirstFillAndTheLastDrainOfEachStage) {
  use_matmul();
  const Cost result = cost(tiled());
  EXPECT_EQ(result.latency_s, 82);
  EXPECT_EQ(named(result.breakdown), parts(64, 0, 2 * 8 + 2, 0));
}

// Four times slower: A and B take 32 s, 2 · 16 + 32 + (2 − 1) · (32 − 16) = 80; C drains in 8 s:
// 2 · 80 + 8 + (2 − 1) · max(0, 8 − 80) = 168.
TEST_F(Staged, StallsWhereATransferTakesLongerThanAWindow) {
  use_matmul();
  set_dram(0.5);
  const Cost result = cost(tiled());
  EXPECT_EQ(result.latency_s, 168);
  EXPECT_EQ(named(result.breakdown), parts(64, 0, 2 * 32 + 8, 2 * 16));
}

// The same: A and B come 2 · 32 s, each time once more for 32 − 16 s, and C goes 8 s.
TEST_F(Staged, SaysWhichStageWaitsForWhichTensors) {
  use_matmul();
  set_dram(0.5);
  const std::vector<StallRow> stalls = staged_stalls(bound(w, arch), Mapping{tiled(), {}});
  ASSERT_EQ(stalls.size(), 3U);
  EXPECT_EQ(stalls[0].kind, StallKind::kFirstFill);
  EXPECT_EQ(stalls[0].seconds, 2 * 32);
  EXPECT_EQ(stalls[0].times, 2);
  EXPECT_EQ(stalls[0].outer, find_component(arch, "DRAM"));
  EXPECT_EQ(stalls[0].inner, find_component(arch, "GB"));
  EXPECT_EQ(stalls[0].tensors, (std::vector{*find_tensor(w, "A"), *find_tensor(w, "B")}));
  EXPECT_EQ(stalls[1].kind, StallKind::kTransfers);
  EXPECT_EQ(stalls[1].seconds, 2 * 16);
  EXPECT_EQ(stalls[2].kind, StallKind::kLastDrain);
  EXPECT_EQ(stalls[2].seconds, 8);
  EXPECT_EQ(stalls[2].tensors, std::vector{*find_tensor(w, "C")});
}

// 5 s before a transfer of A and B together, 3 s before C's, 1 s before each of 64 points: the leaf
// takes 32 s, k 2 · 32 + 13 = 77, m 2 · 77 + 5 = 159.
TEST_F(Staged, CountsSetUps) {
  use_matmul();
  arch.components[0].actions[0].setup_s = 5;
  arch.components[0].actions[1].setup_s = 3;
  arch.components[3].actions[0].setup_s = 1;
  EXPECT_EQ(named(cost(tiled()).breakdown), parts(128, 0, 2 * 13 + 5, 0));
}

// A value of A and one of C, 4 s each, 2 s of compute. 4 steps: 4 · 2 + 8 and 3 · (t − 2), where t
// is 4 with separate ports and 8 with one for both.
TEST_F(Staged, AddsFillsAndDrainsOfASharedPort) {
  w = WorkloadBuilder({{"m", 4}, {"n", 2}}, 1).einsum("C[m] = A[m] * B[n]").workload;
  set_dram(0.25);
  const MappingBuilder b(w, arch);
  const NodeList nodes = {
      b.storage("DRAM", {"A", "C"}), b.storage("GB", {"B"}), b.temporal("m", 1),
      b.storage("GB", {"C", "A"}),   b.temporal("n", 1),     b.compute("C", "MAC")};
  EXPECT_EQ(named(cost(nodes).breakdown), parts(8, 0, 8, 3 * 2));
  std::get<Memory>(arch.components[0].kind).ports = Ports::kShared;
  EXPECT_EQ(named(cost(nodes).breakdown), parts(8, 0, 8, 3 * 6));
}

// Children one after the other (eq. 5), 4 steps of m. T: 2 steps of k, a value of A each, 0.5 s:
// 2 · 1 + 0.5. E: one point, 2 s, a value to drain in 0.5 s.
TEST_F(Staged, AddsSequentialChildren) {
  w = WorkloadBuilder({{"m", 4}, {"k", 2}}, 1)
          .einsum("T[m] = A[m,k] * B[k]")
          .einsum("E[m] = T[m] * D[m]")
          .workload;
  const MappingBuilder b(w, arch);
  const Cost result =
      cost({b.storage("DRAM", {"A", "E"}), b.storage("GB", {"B", "D"}), b.temporal("m", 1),
            b.storage("GB", {"T"}),
            b.sequential({{b.storage("GB", {"A"}), b.temporal("k", 1), b.compute("T", "MAC")},
                          {b.storage("GB", {"E"}), b.compute("E", "SIMD")}})});
  EXPECT_EQ(named(result.breakdown), parts(8, 8, 4 * 0.5 + 4 * 0.5, 0));
  EXPECT_EQ(result.latency_s, 20);
}

// Counts do not depend on the policy; leakage lasts as long as the policy says.
TEST_F(Staged, LeaksForAsLongAsItTakes) {
  use_matmul();
  arch.components[1].leak_power_w = 1;
  const Cost result = cost(tiled());
  EXPECT_DOUBLE_EQ(result.leak_energy_j, 82);
  EXPECT_EQ(values(result, w, arch, "DRAM", "read"), (Values{{"A", 32}, {"B", 32}}));
}

// Eight matmuls of this kind, one after the other.
TEST_F(Staged, RepeatsInstances) {
  use_matmul();
  w.n_instances = 8;
  EXPECT_EQ(cost(tiled()).latency_s, 8 * 82);
}

// DRAM feeds the buffer (A, 4 values in 4 s a step) and the multiplier (B, a value in each of 8
// steps of 1 s, and as many of C back): the leaf takes 8 + 2 s, hides A, and 4 · 10 + 4 = 44. But
// DRAM reads 16 + 32 values, one a second: under overlap 48 s, and staged is never shorter.
TEST_F(Staged, IsNeverShorterThanOverlap) {
  w = WorkloadBuilder({{"m", 16}, {"n", 2}}, 1).einsum("C[m,n] = A[m] * B[m,n]").workload;
  set_dram(1);
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}),
                          b.temporal("m", 4),
                          b.storage("GB", {"A"}),
                          b.temporal("n", 1),
                          b.temporal("m", 1),
                          b.compute("C", "MAC")};
  EXPECT_EQ(cost(nodes, LatencyPolicy::kOverlap).latency_s, 48);
  EXPECT_EQ(named(cost(nodes).breakdown), parts(32, 0, 4 * 2 + 4, 48 - 44));
}

// T comes from DRAM in 4 / 2 s, U goes to GB at once. A node of U in a memory below both ends does
// not exist.
TEST_F(Staged, ACopyTakesAsLongWhateverIsWrittenBelowBothEnds) {
  w = WorkloadBuilder({{"m", 4}}, 1).copy("U[m] = T[m]").workload;
  arch.components.insert(arch.components.begin() + 2, memory("RF", "inf", "Nothing", 0, 1));
  const MappingBuilder b(w, arch);
  const NodeList ends = {b.storage("DRAM", {"T"}), b.storage("GB", {"U"})};
  for (const char* below : {"", "T", "U"}) {
    NodeList nodes = ends;
    if (*below != 0) nodes.push_back(b.storage("RF", {below}));
    nodes.push_back(b.temporal("m", 1));
    nodes.push_back(b.compute("U", "MAC"));
    const Cost result = cost(nodes);
    EXPECT_EQ(result.latency_s, 2) << below;
    EXPECT_EQ(named(result.breakdown), parts(0, 0, 0.5, 1.5)) << below;
  }
}

// T comes to GB in 4 / 2 s and goes on from there to RF, which takes 4 / 1 s to write: the longer.
TEST_F(Staged, ACopyWaitsForEachMemoryOnItsWay) {
  w = WorkloadBuilder({{"m", 4}}, 1).copy("U[m] = T[m]").workload;
  arch.components.insert(arch.components.begin() + 2, memory("RF", "inf", "Nothing", 0, 1));
  const MappingBuilder b(w, arch);
  const Cost result = cost({b.storage("DRAM", {"T"}), b.storage("GB", {"T"}),
                            b.storage("RF", {"U"}), b.compute("U", "MAC")});
  EXPECT_EQ(result.latency_s, 2 + 4);
}

}  // namespace
}  // namespace sluice::testing
