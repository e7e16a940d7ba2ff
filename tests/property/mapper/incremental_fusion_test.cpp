// Incremental nodes in mappings of several Einsums: model and executor agree, and what they say.
#include "property/referee/settled_differences.h"

namespace sluice::settled {
namespace {

/// T[m,n] = A·B and U[m,l] = T·V with M 4, K 2, N 3, L 2, rows of m under one loop with steps of
/// `tile`. `of_t`, `of_u`: nodes in the branches.
Settled rows_of_two(int tile, const std::string& outside, const std::string& shared,
                    const std::string& of_t, const std::string& of_u) {
  const auto branch = [](const std::string& nodes, const std::string& loops,
                         const std::string& einsum) {
    return "    - !Nested {nodes: [" + nodes + loops + "!Compute {einsum: " + einsum +
           ", component: MAC}]}\n";
  };
  const auto loop = [](const std::string& variable) {
    return "!Temporal {rank_variable: " + variable + ", tile_shape: 1}, ";
  };
  return {workload_of("\"T[m,n] = A[m,k] * B[k,n]\", \"U[m,l] = T[m,n] * V[n,l]\"",
                      "M: 4, K: 2, N: 3, L: 2"),
          "\n  - !Storage {tensors: [" + outside + "], component: DRAM}\n" +
              "  - !Temporal {rank_variable: m, tile_shape: " + std::to_string(tile) + "}\n" +
              shared + "  - !Sequential\n    nodes:\n" +
              branch(of_t, loop("m") + loop("n") + loop("k"), "T") +
              branch(of_u, loop("m") + loop("l") + loop("n"), "U")};
}

std::string node(const std::string& tensor, bool incremental) {
  return "!Storage {tensors: [" + tensor +
         "], component: GB, incremental: " + (incremental ? "true" : "false") + "}, ";
}

const char* const kTInGb = "  - !Storage {tensors: [T], component: GB}\n";

// No step over m moves B or V: 2·3 and 3·2 values come once, not in each of 4 steps. Both stay
// while the other Einsum runs: 6 + 6 beside a row of T (3). Refilled ones sink to a value, one at a
// time.
TEST(IncrementalFusion, WhatStaysBetweenStepsTakesRoomInBothBranches) {
  for (const bool stays : {true, false}) {
    const Settled found = rows_of_two(1, "A, B, V, U", kTInGb, node("B", stays), node("V", stays));
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.count("DRAM", "B", "read"), stays ? 6 : 4 * 6);
    EXPECT_EQ(found.count("DRAM", "V", "read"), stays ? 6 : 4 * 6);
    EXPECT_EQ(found.peak_bits("GB"), (stays ? 6 + 6 + 3 : 1 + 3) * 8);
  }
}

// One step over m is no loop: nothing is kept for a second visit. All of T (12) and 6.
TEST(IncrementalFusion, WithoutALoopAboveItIsAnOrdinaryNode) {
  const Settled found = rows_of_two(4, "A, B, V, U", kTInGb, node("B", true), node("V", true));
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "B", "read"), 6);
  EXPECT_EQ(found.peak_bits("GB"), (12 + 6) * 8);
}

// T's rows are in GB until T's tile moves on, but U reads them before that: they go to DRAM at the
// end of T's branch, 3 values in each of 4 steps, and come to U's node from there.
TEST(IncrementalFusion, SumsThatOthersReadGoBackBeforeTheyDo) {
  const Settled found = rows_of_two(1, "A, B, V, U, T", "", node("T", true), node("T", true));
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "T", "write"), 4 * 3);
  EXPECT_EQ(found.count("DRAM", "T", "read"), 4 * 3);
  EXPECT_EQ(found.count("GB", "T", "write"), 4 * 3 * 2 + 4 * 3);
  EXPECT_EQ(found.peak_bits("GB"), (3 + 3) * 8);
}

// One node above the branches has a tile for each Einsum that it serves, and both read A[m,k]: two
// values for each in each of 4 steps. It is one reservation, of two values.
TEST(IncrementalFusion, ANodeServesEachEinsumOnItsOwn) {
  const Settled found(
      workload_of("\"T[m] = A[m,k] * B[k]\", \"U[m] = T[m] + A[m,k]\"", "M: 4, K: 2"),
      R"(
  - !Storage {tensors: [A, B, U], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Storage {tensors: [A], component: GB, incremental: true}
  - !Storage {tensors: [T], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: k, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: k, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "A", "read"), 2 * 4 * 2);
  EXPECT_EQ(found.peak_bits("GB"), 2 * 8);
}

// What is kept while other branches run is not worked out where those run at the same time.
TEST(IncrementalFusion, IsNotPricedBelowSplitsThatRunAtTheSameTime) {
  for (const char* kept : {"true", "false"}) {
    const triples::LoadedTriple loaded = Settled::load(
        workload_of("\"P[m] = X[m] * F[m]\", \"Q[m] = X[m] * G[m]\"", "M: 2") + kArch + R"(
  - !Storage {tensors: [X, F, G, P, Q], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Parallel
    nodes:
    - !Nested {nodes: [!Storage {tensors: [F], component: GB, incremental: )" +
        kept + R"(}, !Compute {einsum: P, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: Q, component: MAC}]}
)");
    EXPECT_EQ(evaluate(loaded.problem, loaded.mapping).has_value(), std::string(kept) == "false");
  }
}

}  // namespace
}  // namespace sluice::settled
