#include <gtest/gtest.h>

#include <cmath>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

// C[m,n] = A[m,k]·B[k,n]: 4·8·2 = 64 points. Everything backed by DRAM, no buffer: reads 64 A + 64
// B + 64 − 8 = 56 C, 184 values; writes 64. One bit a value.
struct Latency : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 1)
                   .einsum("C[m,n] = A[m,k] * B[k,n]")
                   .workload;
  Arch arch;
  Latency() {
    arch.components = {memory("DRAM", "inf", "Nothing", 1, 8),
                       container("PE", {dimension("x", 4), dimension("y", 2)}),
                       compute("MAC", {{"compute", 1, 2, 1, 0}})};
  }
  Cost cost(NodeList loops) {
    const MappingBuilder b(w, arch);
    loops.insert(loops.begin(), b.storage("DRAM", {"A", "B", "C"}));
    loops.push_back(b.compute("C", "MAC"));
    return priced(w, arch, std::move(loops));
  }
  NodeList in_time() {
    const MappingBuilder b(w, arch);
    return {b.temporal("m", 1), b.temporal("k", 1), b.temporal("n", 1)};
  }
  double busy(const Cost& cost, const char* component) {
    for (const LatencyRow& row : cost.latency)
      if (arch[row.component].name == component) return row.latency_s;
    return std::nan("");
  }
};

// (184 + 64) / 8 = 31 s; the MAC needs 64 / 2 = 32 s and is the maximum.
TEST_F(Latency, IsTheMaximumOverComponentsThatShareTheirPorts) {
  const Cost result = cost(in_time());
  EXPECT_EQ(busy(result, "DRAM"), 31);
  EXPECT_EQ(busy(result, "MAC"), 32);
  EXPECT_EQ(result.latency_s, 32);
}

TEST_F(Latency, SeparatePortsTakeTheLongerAction) {
  std::get<Memory>(arch.components[0].kind).ports = Ports::kSeparate;
  EXPECT_EQ(busy(cost(in_time()), "DRAM"), 184.0 / 8);
}

TEST_F(Latency, FollowsAnExpressionOverTheActions) {
  arch.components[0].total_latency = expression("max(a.n_calls / a.throughput for a in actions)");
  EXPECT_EQ(busy(cost(in_time()), "DRAM"), 184.0 / 8);
  arch.components[0].total_latency = expression("sum(a.n_calls for a in actions) / 4");
  EXPECT_EQ(busy(cost(in_time()), "DRAM"), 62);
  arch.components[0].total_latency = expression("sqrt(sum(a.n_calls for a in actions) + 8)");
  EXPECT_EQ(busy(cost(in_time()), "DRAM"), 16);
}

TEST_F(Latency, SpatialLoopsShortenTheComputeAndNotTheCount) {
  const MappingBuilder b(w, arch);
  const Cost result =
      cost({b.spatial("m", 1, "PE", 0), b.spatial("n", 1, "PE", 1), b.temporal("k", 1)});
  EXPECT_EQ(busy(result, "MAC"), 4);  // 8 steps at 2 a second
  EXPECT_EQ(values(result, w, arch, "MAC", "compute"), (Values{{"", 64}}));
}

// R 4, C 2, T 8: one fold of 4 + 2 + 8 − 2 = 12 cycles.
TEST_F(Latency, ASystolicArrayFillsAndDrains) {
  std::get<Container>(arch.components[1].kind).array =
      SystolicArray{SystolicArray::Dataflow::kOutputStationary, "x", "y"};
  const MappingBuilder b(w, arch);
  const Cost result =
      cost({b.spatial("m", 1, "PE", 0), b.spatial("n", 1, "PE", 1), b.temporal("k", 1)});
  EXPECT_EQ(busy(result, "MAC"), 12 / 2.0);
  EXPECT_EQ(values(result, w, arch, "MAC", "compute"), (Values{{"", 64}}));
}

// Which loops are rows, columns and time is the mapping's; a fold whose weights or inputs stay
// takes 2·R + C + T − 2 cycles. Weight stationary: rows k, columns n, m in time; 2 folds over k of
// 2·4 + 2 + 4 − 2 = 12. Input stationary: rows k, columns m, n in time; 2 · 2 folds of 2·4 + 2 + 2
// − 2 = 10.
TEST_F(Latency, ASystolicArrayRunsFoldAfterFold) {
  auto& array = std::get<Container>(arch.components[1].kind).array;
  const MappingBuilder b(w, arch);
  array = SystolicArray{SystolicArray::Dataflow::kWeightStationary, "x", "y"};
  const NodeList weights = {b.temporal("k", 4), b.spatial("k", 1, "PE", 0),
                            b.spatial("n", 1, "PE", 1), b.temporal("m", 1)};
  EXPECT_EQ(busy(cost(weights), "MAC"), 2 * 12 / 2.0);
  array = SystolicArray{SystolicArray::Dataflow::kInputStationary, "x", "y"};
  const NodeList inputs = {b.temporal("k", 4), b.temporal("m", 2), b.spatial("k", 1, "PE", 0),
                           b.spatial("m", 1, "PE", 1), b.temporal("n", 1)};
  EXPECT_EQ(busy(cost(inputs), "MAC"), 4 * 10 / 2.0);
}

// All of an array is crossed, used or not: R 4, C 2, T 8 where two rows of one column compute; 2 ·
// 2 folds of 4 + 2 + 8 − 2 = 12.
TEST_F(Latency, ASystolicArrayIsCrossedWhole) {
  std::get<Container>(arch.components[1].kind).array =
      SystolicArray{SystolicArray::Dataflow::kOutputStationary, "x", "y"};
  const MappingBuilder b(w, arch);
  const Cost result = cost(
      {b.temporal("m", 2), b.temporal("n", 1), b.spatial("m", 1, "PE", 0), b.temporal("k", 1)});
  EXPECT_EQ(busy(result, "MAC"), 4 * 12 / 2.0);
}

// 32 s on a clock of 4 Hz.
TEST_F(Latency, IsGivenInCyclesWhereThereIsAClock) {
  EXPECT_EQ(cost(in_time()).latency_cycles, std::nullopt);
  arch.clock_hz = 4;
  EXPECT_EQ(cost(in_time()).latency_cycles, 32 * 4);
}

// Of a component's own fanout all instances leak, used or not: 32 s · 3 · 5 W of five channels.
TEST_F(Latency, LeaksInEveryInstanceOfItsOwnFanout) {
  arch.components[0].spatial = {dimension("channel", 5)};
  arch.components[0].leak_power_w = 3;
  EXPECT_EQ(cost(in_time()).leak_energy_j, 32 * 3 * 5);
}

// 32 s: in DRAM once, in every MAC of the PEs (4 · 2).
TEST_F(Latency, LeaksInEveryInstanceUnlessGated) {
  arch.components[0].leak_power_w = 3;
  arch.components[2].leak_power_w = 0.5;
  Cost result = cost(in_time());
  EXPECT_EQ(result.leak_energy_j, 32 * (3 + 8 * 0.5));
  EXPECT_EQ(result.energy_j, 184 + 64 + 64 + result.leak_energy_j);
  Component idle = memory("Idle", "inf", "Nothing", 1, 1);
  idle.leak_power_w = 7;
  arch.components.insert(arch.components.begin() + 1, idle);
  EXPECT_EQ(cost(in_time()).leak_energy_j, 32 * (3 + 7 + 8 * 0.5));
  arch.components[1].power_gated = true;
  EXPECT_EQ(cost(in_time()).leak_energy_j, 32 * (3 + 8 * 0.5));
}

// A memory inside a fork is not on the way to a compute outside it.
TEST_F(Latency, AForkIsAnotherPath) {
  arch.forks.push_back({});
  Component private_memory = memory("Side", "inf", "Nothing", 1, 1);
  private_memory.fork = ForkId(0);
  Component side = compute("SIMD", {{"compute", 5, 1, 1, 0}});
  side.fork = ForkId(0);
  arch.components.insert(arch.components.begin() + 1, {private_memory, side});
  const MappingBuilder b(w, arch);
  const auto nodes = [&](const char* unit) {
    return NodeList{b.storage("DRAM", {"A", "B", "C"}),
                    b.storage("Side", {"A"}),
                    b.temporal("m", 1),
                    b.temporal("k", 1),
                    b.temporal("n", 1),
                    b.compute("C", unit)};
  };
  EXPECT_EQ(why_illegal(w, arch, nodes("SIMD")), "");
  EXPECT_EQ(why_illegal(w, arch, nodes("MAC")),
            "Side cannot hold A for the Einsum C: it is not on the way to MAC, or not enabled.\n");
}

// The floor: 64 points on 8 MACs at 2 a second, 4 s; DRAM must read 32 + 16 values and write 8, 7 s
// and 56 J; with 64 J of computing.
TEST_F(Latency, NoMappingBeatsTheBounds) {
  std::get<Memory>(arch.components[0].kind).tensors.keep = expression("All");
  const Cost result = cost(in_time());
  EXPECT_EQ(result.bounds.compute_s, 4);
  EXPECT_EQ(result.bounds.memory_s, 7);
  EXPECT_EQ(result.bounds.energy_floor_j, 120);
}

CostBounds bounds_of_a_copy(const char* kept) {
  Arch arch;
  arch.components = {memory("DRAM", "inf", kept, 1, 8), memory("GB", "inf", "All", 1, 8),
                     compute("MAC", {{"compute", 1, 2, 1, 0}})};
  std::get<Memory>(arch.components[0].kind).tensors.may_keep = expression("Nothing");
  return bound(WorkloadBuilder({{"m", 4}}, 1).copy("U[m] = T[m]").workload, arch).bounds;
}

TEST_F(Latency, TheBoundsKnowThatACopyWithinOneMemoryIsFree) {
  EXPECT_EQ(bounds_of_a_copy("All").energy_floor_j, 0);
  EXPECT_EQ(bounds_of_a_copy("All").memory_s, 0);
}

// U lies further in, so that the 4 values of T are read. The bounds do not count on it: where a
// copy moves nothing depends on what other Einsums hold.
TEST_F(Latency, TheBoundsLeaveOutACopyToAnotherMemory) {
  EXPECT_EQ(bounds_of_a_copy("T").energy_floor_j, 0);
  EXPECT_EQ(bounds_of_a_copy("T").memory_s, 0);
}

// The Einsum may run on the MAC, above which this memory does not stand: 64 J of computing are
// left, and of 64 points with 3 operands, of which 8 MACs share one, 24 values at 1 J.
TEST_F(Latency, TheBoundsLeaveOutAMemoryThatIsNotAboveAllComputes) {
  arch.forks.push_back({});
  Component private_memory = memory("Side", "inf", "All", 1000, 1);
  private_memory.fork = ForkId(0);
  Component side = compute("SIMD", {{"compute", 5, 1, 1, 0}});
  side.fork = ForkId(0);
  arch.components.insert(arch.components.begin(), {private_memory, side});
  EXPECT_EQ(cost(in_time()).bounds.energy_floor_j, 64 + 24);
}

TEST_F(Latency, TheTotalsAloneAreTheSameBits) {
  const MappingBuilder b(w, arch);
  NodeList nodes = in_time();
  nodes.insert(nodes.begin(), b.storage("DRAM", {"A", "B", "C"}));
  nodes.push_back(b.compute("C", "MAC"));
  const BoundProblem problem = bound(w, arch);
  const auto totals = evaluate_totals(problem, Mapping{nodes, {}});
  const auto cost = evaluate(problem, Mapping{nodes, {}});
  ASSERT_TRUE(totals.has_value());
  EXPECT_EQ(totals->energy_j, cost->energy_j);
  EXPECT_EQ(totals->latency_s, cost->latency_s);
}

TEST_F(Latency, TheRowsAddUpToTheTotal) {
  arch.components[0].leak_power_w = 3;
  const Cost result = cost(in_time());
  double sum = 0;
  for (const EnergyRow& row : result.energy) sum += row.energy_j;
  EXPECT_EQ(sum, result.energy_j);
}

}  // namespace
}  // namespace sluice::testing
