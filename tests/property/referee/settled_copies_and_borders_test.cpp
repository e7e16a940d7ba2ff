// Mappings on which model and executor once differed (as in settled_differences_test.cpp): windows
// over small ranks, and copies.
#include "settled_differences.h"

namespace sluice::settled {
namespace {

/// Y[p,q] reads T at rows p-1 and p+1 and columns q-1 and q.
Settled bordered(int rows) {
  return {
      workload_of("\"T[i,j] = X[i,j] * U[j]\", \"Y[p,q] = T[I:p+2*r-1,J:q+s-1] * W[r,s]\"",
                  "P: 2, I: " + std::to_string(rows) + ", Q: 2, J: 1", "0 <= r < 2, 0 <= s < 2"),
      R"(
  - !Storage {tensors: [X, U, W], component: DRAM}
  - !Temporal {rank_variable: [j, q], tile_shape: 1}
  - !Temporal {rank_variable: [i, p], tile_shape: 1}
  - !Storage {tensors: [T, Y], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: r, tile_shape: 1}, !Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)"};
}

// Seed 41,013,105: T fills GB once, over 2 links of the tree, before the copy takes it from there
// in two steps.
TEST(SettledDifferences, CopiesThroughAMemoryGoStorageByStorage) {
  const Settled found(R"(
workload:
  rank_sizes: {M: 2, N: 2}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "U[m,n] = T[m,n]", name: U, is_copy_operation: true}
)",
                      R"(
  - !Storage {tensors: [T], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Spatial {rank_variable: [n], tile_shape: 1, component: PE, name: x}
  - !Temporal {rank_variable: [m], tile_shape: 1}
  - !Storage {tensors: [U], component: RF}
  - !Compute {einsum: U, component: MAC}
)",
                      R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: NetGB, topology: tree, link_bandwidth: 5, hop_energy: 1}
  - !Memory {name: GB, size: inf, spatial: [{name: g, fanout: 3}], actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 3}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)");
  ASSERT_TRUE(found.legal);
  double hops = 0;
  for (const NetworkRow& row : found.cost.networks) hops += row.latency_hops;
  EXPECT_EQ(hops, 2);
}

// Both steps over q read column 0, so nothing of it may leave in between. Of 2 rows the steps over
// p read -1..1 and 0..2: both rows, always; only padding comes and goes. A third row would leave.
TEST(SettledDifferences, StepsThatMovePaddingAloneTakeNothingAway) {
  const Settled found = bordered(2);
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "X", "read"), 2);
  EXPECT_EQ(found.peak_bits("GB"), (3 * 2 + 1) * 8);
  EXPECT_FALSE(bordered(3).legal);
}

// Four results need 3 rows: T's steps follow from Y's tile, and T may have fewer rows than that.
TEST(SettledDifferences, AMakerWithFewerRowsThanItsReadersTileHasResults) {
  const Settled found(workload_of("\"T[i] = X[i] * U[i]\", \"Y[p] = T[I:p+2*r-1] * W[r]\"",
                                  "P: 4, I: 3", "0 <= r < 3"),
                      R"(
  - !Storage {tensors: [X, U, W, Y], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Temporal {rank_variable: [i, p], tile_shape: 4}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "T", "write"), 3);
}

std::string copied_workload() {
  return workload_of(
      "{einsum: \"W[m,n] = T[m,n]\", name: W, is_copy_operation: true}, \"V[m] = U[m,n] * W[m,n]\"",
      "M: 2, N: 3");
}

// W's node in GB stands in both branches: one reservation of 6 values from the first to the last of
// them. T's, written above it, is there for the copy: 6 more. Below it, it would not exist.
TEST(SettledDifferences, WhatIsWrittenAboveTheEndOfACopyIsHeldForIt) {
  const auto mapping = [](const std::string& nodes) {
    return R"(
  - !Storage {tensors: [T, U, V], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [)" +
           nodes + R"(, !Compute {einsum: W, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [W], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: V, component: MAC}]}
)";
  };
  const std::string input = "!Storage {tensors: [T], component: GB}",
                    output = "!Storage {tensors: [W], component: GB}";
  const Settled above(copied_workload(), mapping(input + ", " + output));
  ASSERT_TRUE(above.legal);
  EXPECT_EQ(above.peak_bits("GB"), (6 + 6) * 8);
  EXPECT_EQ(above.count("DRAM", "T", "read"), 6);
  const Settled below(copied_workload(), mapping(output + ", " + input));
  ASSERT_TRUE(below.legal);
  EXPECT_EQ(below.peak_bits("GB"), 6 * 8);
}

// A toll for T below the node in which the copy of T ends is not on its way.
TEST(SettledDifferences, ACopyPassesATollAboveItsEnd) {
  for (const bool above : {true, false}) {
    const std::string toll = "  - !Storage {tensors: [T], component: Link}\n";
    const std::string workload =
        "workload:\n  rank_sizes: {M: 3}\n  bits_per_value: {All: 8}\n"
        "  einsums: [{einsum: \"U[m] = T[m]\", name: U, is_copy_operation: true}]\n"
        "arch:\n  nodes:\n"
        "  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, "
        "{name: write, energy: 1, throughput: 1}]}\n"
        "  - !Toll {name: Link, direction: up_and_down, actions: [{name: read, energy: 1, "
        "throughput: 1}]}\n"
        "  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, "
        "{name: "
        "write, energy: 1, throughput: 1}]}\n"
        "  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}\n";
    const Settled found(workload,
                        "mapping:\n  nodes:\n  - !Storage {tensors: [T], component: "
                        "DRAM}\n" +
                            (above ? toll : "") + "  - !Storage {tensors: [U], component: GB}\n" +
                            (above ? "" : toll) + "  - !Compute {einsum: U, component: MAC}\n",
                        "");
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.count("Link", "T", "read"), above ? 3 : 0);
  }
}

// T is backed in GB above the branches for U, and in W's branch for W: one reservation of 3 values,
// which come in once. With a loop between the two they are not one.
TEST(SettledDifferences, BackingNodesAboveAndInABranchAreOne) {
  const auto mapping = [](const std::string& between) {
    return R"(
  - !Storage {tensors: [W, U], component: DRAM}
  - !Storage {tensors: [T], component: GB, einsums: [U]}
)" + between +
           R"(  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: W, component: MAC}]}
)";
  };
  const std::string workload = workload_of("\"U[m] = exp(T[m])\", \"W[m] = T[m]\"", "M: 3");
  const Settled one(workload, mapping(""));
  ASSERT_TRUE(one.legal);
  EXPECT_EQ(one.peak_bits("GB"), 3 * 8);
  EXPECT_FALSE(
      Settled(workload, mapping("  - !Temporal {rank_variable: m, tile_shape: 1}\n")).legal);
}

// T makes 4 rows, then 1. Y, which takes one step, needs the 4 (2*1 + 1 is the last) and may keep
// them above the loop, for Z's second step changes nothing there; Z itself may not.
TEST(SettledDifferences, ACopyForOneStepOfALoopIsUpToDate) {
  const auto mapping = [](const std::string& einsum) {
    return R"(
  - !Storage {tensors: [X, W, T, Y, V, H, Z], component: DRAM}
  - !Storage {tensors: [T], component: GB, einsums: [)" +
           einsum + R"(]}
  - !Temporal {rank_variable: [p, z, q], tile_shape: 2}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: q, tile_shape: 1}, !Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: z, tile_shape: 1}, !Temporal {rank_variable: t, tile_shape: 1}, !Compute {einsum: Z, component: MAC}]}
)";
  };
  const std::string workload = workload_of(
      "\"T[p] = X[XP:p+r] * W[r]\", \"Y[q] = T[P:2*q+s] * V[s]\", \"Z[z] = T[P:z+t] * H[t]\"",
      "Q: 2, P: 5", "0 <= r < 2, 0 <= s < 2, 0 <= t < 2");
  const Settled found(workload, mapping("Y"));
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "T", "write"), 4);
  EXPECT_FALSE(Settled(workload, mapping("Z")).legal);
}

// The first step over p makes both rows of T, for rows -1 to 1 are read. In the second one T has
// nothing to do: U, backed below the loop, is not used again.
TEST(SettledDifferences, StepsWithoutWorkRepeatNothing) {
  const Settled found(workload_of("\"T[i] = X[i] * U[j]\", \"Y[p] = T[I:p+2*r-1] * W[r]\"",
                                  "P: 2, I: 2, J: 1", "0 <= r < 2"),
                      R"(
  - !Storage {tensors: [X, T, W, Y], component: DRAM}
  - !Temporal {rank_variable: [p, i], tile_shape: 1}
  - !Storage {tensors: [U], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "U", "read"), 2);
}

// Z keeps two rows of T at a time, above the inner loop. That loop's first step makes three, which
// Y needs: Z's are among them. Were Y not there, the first step would make one.
TEST(SettledDifferences, ACopyAboveALoopWhoseFirstStepMakesAllIsUpToDate) {
  const auto mapping = [](bool with_y) {
    const std::string loop = with_y ? "[p, z, q]" : "[p, z]";
    return "\n  - !Storage {tensors: [X, W, T, H, Z" + std::string(with_y ? ", Y, V" : "") +
           "], component: DRAM}\n  - !Temporal {rank_variable: " + loop +
           ", tile_shape: 2}\n  - !Storage {tensors: [T], component: GB, incremental: true, "
           "einsums: [Z]}\n  - !Temporal {rank_variable: " +
           loop + R"(, tile_shape: 1}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
)" +
           (with_y ? "    - !Nested {nodes: [!Temporal {rank_variable: s, tile_shape: 1}, !Compute "
                     "{einsum: "
                     "Y, component: MAC}]}\n"
                   : "") +
           "    - !Nested {nodes: [!Compute {einsum: Z, component: MAC}]}\n";
  };
  const std::string t = "\"T[p] = X[XP:p+r] * W[r]\", ", z = "\"Z[z] = T[P:z] * H[z]\"";
  const Settled three(
      workload_of(t + "\"Y[q] = T[P:q+s] * V[s]\", " + z, "Q: 2", "0 <= r < 2, 0 <= s < 3"),
      mapping(true));
  ASSERT_TRUE(three.legal);
  EXPECT_EQ(three.count("GB", "T", "write"), 4);
  EXPECT_FALSE(Settled(workload_of(t + z, "P: 4", "0 <= r < 2"), mapping(false)).legal);
}

// Y's windows of 2 rows are 3 apart. Instance 0 has q 0 and 1: rows 0..1, then 2..4; instance 1 has
// q 2 alone: rows 5..7. Step by step they get W's 2 values together: 3 rows at most in the first
// step, 3 in the second, though instance 0 makes 5 rows in all.
TEST(SettledDifferences, InstancesTogetherTakeTheLongerOfEachStep) {
  const Settled found(workload_of("\"T[p] = X[XP:p+r] * W[r]\", \"Y[q] = T[P:3*q+s] * V[s]\"",
                                  "Q: 3", "0 <= r < 2, 0 <= s < 2"),
                      R"(
  - !Storage {tensors: [X, W, V, Y], component: DRAM}
  - !Spatial {rank_variable: [q, p], tile_shape: 2, component: GB, name: g}
  - !Temporal {rank_variable: [q, p], tile_shape: 1}
  - !Storage {tensors: [T], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "W", "read"), (3 + 3) * 2);
}

// Port, a toll for U, above the backing storage of U: what it charges for nobody knows, also where
// U is backed at the head of the reader's branch, too.
TEST(SettledDifferences, ATollAboveTheBackingStorageIsNoWay) {
  const std::string arch =
      "arch:\n  nodes:\n"
      "  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, "
      "{name: "
      "write, energy: 1, throughput: 1}]}\n"
      "  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: "
      "write, energy: 1, throughput: 1}]}\n"
      "  - !Toll {name: Port, direction: up, actions: [{name: read, energy: 1, throughput: 1}]}\n"
      "  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}\n"
      "mapping:\n  nodes:\n";
  const Settled found(workload_of("\"U[m] = exp(T[m])\", \"V[m] = U[m] * W[m]\"", "M: 1"), R"(
  - !Storage {tensors: [T, V, W], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [U], component: Port}, !Storage {tensors: [U], component: GB}, !Compute {einsum: U, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [U], component: GB}, !Compute {einsum: V, component: MAC}]}
)",
                      arch);
  EXPECT_FALSE(found.legal);
}

}  // namespace
}  // namespace sluice::settled
