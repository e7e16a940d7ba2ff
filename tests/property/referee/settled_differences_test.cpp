// Mappings on which model and executor once differed. Both must say the same now, and what was
// found to be right. Random triples draw them all; here each stands with its arithmetic.
#include "settled_differences.h"

namespace sluice::settled {
namespace {

/// T[p] = X[p+r] W[r], Y[q] = T[stride*q+s] V[s]
std::string rows(int q, int r, int s, int stride = 1) {
  return "workload:\n  rank_sizes: {Q: " + std::to_string(q) +
         "}\n  bits_per_value: {All: 8}\n  iteration_space_shape: [0 <= r < " + std::to_string(r) +
         ", 0 <= s < " + std::to_string(s) +
         "]\n  einsums: [\"T[p] = X[XP:p+r] * W[r]\", \"Y[q] = T[P:" + std::to_string(stride) +
         "*q+s] * V[s]\"]\n";
}

const char* const kRowBranches = R"(
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: r, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: s, tile_shape: 1}, !Temporal {rank_variable: q, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)";

// The loop takes one step of both Einsums (of T's 5 rows by its reader's 3): DRAM's X (6) and W (2)
// live while T is made, V (3) and Y (3) after it.
TEST(SettledDifferences, ALoopOfOneStepOverAWindowIsNoLoop) {
  const Settled found(rows(3, 2, 3), std::string(R"(
  - !Storage {tensors: [X, W, Y, V], component: DRAM}
  - !Temporal {rank_variable: [q, p], tile_shape: 3}
  - !Storage {tensors: [T], component: GB})") +
                                         kRowBranches);
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("DRAM"), (6 + 2) * 8);
}

TEST(SettledDifferences, ALoopOfOneStepRepeatsNobody) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 2, N: 2, K: 2, L: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"T[m,n] = A[m,k] * B[k,n]\", \"U[x,l] = T[M:x,N:y] * V[N:y,l]\"]\n",
      R"(
  - !Storage {tensors: [A, B, V, U], component: DRAM}
  - !Temporal {rank_variable: [x, m], tile_shape: 1}
  - !Temporal {rank_variable: [x], tile_shape: 1}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: n, tile_shape: 1}, !Temporal {rank_variable: k, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: y, tile_shape: 1}, !Temporal {rank_variable: l, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 2 * 8);
}

// Instance 0 has p 0..2: a window of 2 + 2 values, then 1 new one; instance 1 has p 3: 3 values.
TEST(SettledDifferences, SlidingBelowUnevenLoopsOfOneVariable) {
  const Settled found(
      "workload:\n  rank_sizes: {P: 4}\n  bits_per_value: {All: 8}\n"
      "  iteration_space_shape: [0 <= r < 3]\n  einsums: [\"Y[p] = X[XP:p+r] * W[r]\"]\n",
      R"(
  - !Storage {tensors: [X, W, Y], component: DRAM}
  - !Storage {tensors: [X], component: GB}
  - !Spatial {rank_variable: p, tile_shape: 3, component: GB, name: g}
  - !Temporal {rank_variable: p, tile_shape: 2}
  - !Storage {tensors: [X], component: RF, sliding: true}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "X", "read"), 4 + 1 + 3);
}

// b moves X's tile along both ranks: the next b's row has nothing in common with the one before.
TEST(SettledDifferences, AWindowThatMovesAlongAnotherRankHoldsNothingOfTheOneBefore) {
  const Settled found(
      "workload:\n  rank_sizes: {B: 2, M: 4, A: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"Y[b,a] = X[b,M:2*a+b]\"]\n",
      R"(
  - !Storage {tensors: [X, Y], component: DRAM}
  - !Temporal {rank_variable: b, tile_shape: 1}
  - !Storage {tensors: [X], component: GB, sliding: true}
  - !Temporal {rank_variable: a, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "X", "read"), 3 + 3);
}

// Y has 4 values, though its box has 8, and reads 4 of X: the bound counts no more.
TEST(SettledDifferences, TheBoundsCountWhatIsTouched) {
  std::string arch = kArch;
  arch.replace(arch.find("size: inf"), 9, "size: inf, tensors: {keep: All}");
  const triples::LoadedTriple loaded = Settled::load(
      "workload:\n  rank_sizes: {B: 2, M: 4, A: 2, R: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"Y[b,a,R:b] = X[b,M:2*a+b]\"]\n" +
      arch + R"(
  - !Storage {tensors: [X, Y], component: DRAM}
  - !Temporal {rank_variable: b, tile_shape: 1}
  - !Temporal {rank_variable: a, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)");
  const auto cost = evaluate(loaded.problem, loaded.mapping);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->energy_j, 4 * 8 + 4 * 8 + 4);
  EXPECT_EQ(cost->bounds.energy_floor_j, cost->energy_j);
}

// A 2x2 tile moves along the diagonal: a corner of it stays. Its last row and column are padding.
TEST(SettledDifferences, AWindowThatMovesAlongADiagonalKeepsACorner) {
  for (int size : {4, 3}) {
    const Settled found("workload:\n  rank_sizes: {H: " + std::to_string(size) +
                            ", W: " + std::to_string(size) +
                            ", D: 3}\n  bits_per_value: {All: 8}\n"
                            "  iteration_space_shape: [0 <= r < 2, 0 <= s < 2]\n"
                            "  einsums: [\"Y[d] = X[H:d+r, W:d+s]\"]\n",
                        R"(
  - !Storage {tensors: [X, Y], component: DRAM}
  - !Temporal {rank_variable: d, tile_shape: 1}
  - !Storage {tensors: [X], component: GB, sliding: true}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Temporal {rank_variable: s, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)");
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.count("DRAM", "X", "read"), 4 + 3 + 3);
  }
}

// U reads one of T's two values. GB's node of T in both branches is one reservation of both, beside
// U's value.
TEST(SettledDifferences, ABackingInSeveralBranchesKeepsItsSize) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 1, N: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"T[m,n] = A[m,n] * B[n]\", \"U[n,m] = T[M:n,N:m]\"]\n",
      R"(
  - !Storage {tensors: [A, B], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [T, U], component: GB}, !Compute {einsum: U, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), (2 + 1) * 8);
}

std::string spread_rows(int tile, const std::string& memory) {
  const std::string intermediate = "  - !Storage {tensors: [T], component: " + memory + "}\n";
  return "  - !Storage {tensors: [X, W, Y, V], component: DRAM}\n" +
         (memory == "DRAM" ? intermediate : "") +
         "  - !Spatial {rank_variable: [q, p], tile_shape: " + std::to_string(tile) +
         ", component: Chip, name: c}\n" + (memory == "DRAM" ? "" : intermediate) + kRowBranches;
}

// Instance 1 reads T[1] and T[2], which instance 0 makes at the same time.
TEST(SettledDifferences, InstancesDoNotReadEachOthersRows) {
  EXPECT_FALSE(Settled(rows(2, 2, 3), spread_rows(1, "DRAM")).legal);
  EXPECT_FALSE(Settled(rows(2, 2, 3), spread_rows(1, "GB")).legal);
}

// Windows of 2 rows, 3 apart: nobody reads another's. Instance 0 makes rows 0 and 1, instance 1
// rows 2 to 4: what they get together takes 3 · 2 messages, as many as the one with more needs.
TEST(SettledDifferences, InstancesMayHaveWindowsThatAreApart) {
  for (const char* memory : {"DRAM", "GB"}) {
    const Settled found(rows(2, 2, 2, 3), spread_rows(1, memory));
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.count("DRAM", "W", "read"), 3 * 2);
  }
}

// Row by row an instance's own windows are apart (2 rows, one step of 2 instances), but what it
// covers in all steps is not: q 0..1 reads rows 0..2, q 2..3 rows 2..4.
TEST(SettledDifferences, InstancesAreSeenOverAllTheirSteps) {
  const Settled found(rows(4, 2, 2), std::string(R"(
  - !Storage {tensors: [X, W, Y, V], component: DRAM}
  - !Spatial {rank_variable: [q, p], tile_shape: 2, component: Chip, name: c}
  - !Temporal {rank_variable: [q, p], tile_shape: 1}
  - !Storage {tensors: [T], component: GB})") +
                                         kRowBranches);
  EXPECT_FALSE(found.legal);
}

// Q 1: the steps over s read rows 0, 1 and 2. They are apart; the loop over c between them and
// T's node takes nothing away.
TEST(SettledDifferences, StepsThatAreApartLoseNothingToALoopBetween) {
  const Settled found(
      "workload:\n  rank_sizes: {Q: 1, C: 2, O: 1}\n  bits_per_value: {All: 8}\n"
      "  iteration_space_shape: [0 <= r < 2, 0 <= s < 3]\n"
      "  einsums: [\"T[p,c] = X[XP:p+r,c] * W[r,c]\", \"Y[q,o] = T[P:2*q+s,c] * V[s,c,o]\"]\n",
      R"(
  - !Storage {tensors: [X, W, Y, V], component: DRAM}
  - !Temporal {rank_variable: [s, p], tile_shape: 1}
  - !Temporal {rank_variable: [c], tile_shape: 1}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: Y, component: MAC}]}
)");
  EXPECT_TRUE(found.legal);
}

// Z steps by 1 and needs 3 rows of Y, for which T must make 4 first, then 1 a step: 5 rows, each
// once. GB holds windows of 4 and 3.
TEST(SettledDifferences, RowsOfRows) {
  const Settled found(
      "workload:\n  rank_sizes: {O: 2}\n  bits_per_value: {All: 8}\n"
      "  iteration_space_shape: [0 <= r < 2, 0 <= s < 2, 0 <= t < 3]\n"
      "  einsums: [\"T[p] = X[XP:p+r] * W[r]\", \"Y[q] = T[P:q+s] * V[s]\", \"Z[o] = Y[Q:o+t] * "
      "H[t]\"]\n",
      R"(
  - !Storage {tensors: [X, W, V, H, Z], component: DRAM}
  - !Temporal {rank_variable: [o, q, p], tile_shape: 1}
  - !Storage {tensors: [T, Y], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: q, tile_shape: 1}, !Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: t, tile_shape: 1}, !Compute {einsum: Z, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "X", "read"), 5 * 2);
  EXPECT_EQ(found.peak_bits("GB"), (4 + 3) * 8);
}

// In every step of the shared loop the inner loop's first tile is 2: 2 + 2 spread over instances.
// W is read once a step for both of them: 2 (first step: tiles of 2, 1, 1) …
TEST(SettledDifferences, AStatedFirstTileComesInEveryRunOfItsLoop) {
  // p runs 0..3 in the first step (tiles 2, 1, 1), 4..5 in the second (one tile of 2): 4 visits,
  // in each of which 2 values of W are sent to the instances together.
  const Settled found(rows(4, 2, 3), std::string(R"(
  - !Storage {tensors: [X, W, T, V, Y], component: DRAM}
  - !Temporal {rank_variable: [q, p], tile_shape: 2}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: p, tile_shape: 1, initial_tile_shape: 2}
      - !Spatial {rank_variable: p, tile_shape: 1, component: GB, name: g}
      - !Temporal {rank_variable: r, tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested {nodes: [!Temporal {rank_variable: q, tile_shape: 1}, !Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)"));
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "W", "read"), 4 * 2);
}

// A node that stays during the whole run stands above everything, also above loops of components
// around its own.
TEST(SettledDifferences, APersistentNodeMayStandAboveOuterSpatialLoops) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 2, N: 3}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"Y[m,n] = A[m] * B[n]\"]\n",
      R"(
  - !Storage {tensors: [A, B, Y], component: DRAM}
  - !Storage {tensors: [B], component: GB, persistent: true}
  - !Spatial {rank_variable: m, tile_shape: 1, component: Chip, name: c}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 3 * 8);
}

// Two copies of one tensor in its memory are the same bits, also when it is no more: 2 values, and
// then V's.
TEST(SettledDifferences, SeveralCopiesInOneMemoryAreOne) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 2, N: 1}\n  bits_per_value: {All: 8}\n  einsums:\n"
      "  - {einsum: \"U[m] = T[m]\", is_copy_operation: true}\n"
      "  - {einsum: \"W[m] = T[m]\", is_copy_operation: true}\n"
      "  - {einsum: \"V[n] = U[m] * W[m] * B[n]\"}\n",
      R"(
  - !Storage {tensors: [T, U, W, V], component: DRAM}
  - !Storage {tensors: [B], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: U, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: W, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: V, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("DRAM"), (2 + 1) * 8);
}

// T's node stands at the head of two branches, of which one is inside a further split: one
// reservation, from T to Y. Z's value comes after it.
TEST(SettledDifferences, BranchesOfBranchesHaveHeadsToo) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 3, N: 1}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"T[m,n] = exp(A[m,n])\", \"Y[n] = sum(T[m,n])\", \"Z[n] = exp(Y[n])\"]\n",
      R"(
  - !Storage {tensors: [A], component: DRAM}
  - !Storage {tensors: [Y], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested
      nodes:
      - !Sequential
        nodes:
        - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
        - !Nested {nodes: [!Storage {tensors: [Z], component: GB}, !Compute {einsum: Z, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 3 * 8);
}

// Y's tiles of q are 2, 1 and 2 wide, those of T 5, 3 and 6 rows: the third visit takes two steps
// of
// 5. One visit with two steps makes a loop, so W stays above it: 2 values in each of three visits.
TEST(SettledDifferences, AVisitThatIsNotTheLargestMayTakeMoreSteps) {
  const Settled found(rows(5, 2, 2, 3), R"(
  - !Storage {tensors: [X, W, V, Y], component: DRAM}
  - !Temporal {rank_variable: [p, q], tile_shape: 3}
  - !Temporal {rank_variable: [q, p], tile_shape: 2}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Storage {tensors: [W], component: GB}, !Temporal {rank_variable: r, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 5}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: s, tile_shape: 1}, !Temporal {rank_variable: q, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "W", "read"), 3 * 2);
}

// T goes from DRAM to GB: RF, further in than both, takes no part, although its node stands above
// that of U.
TEST(SettledDifferences, ACopyPassesOnlyWhatLiesBetweenItsEnds) {
  const Settled found(
      "workload:\n  rank_sizes: {M: 3}\n  bits_per_value: {All: 8}\n"
      "  einsums: [{einsum: \"U[m] = T[m]\", name: U, is_copy_operation: true}]\n",
      R"(
  - !Storage {tensors: [T], component: DRAM}
  - !Storage {tensors: [T], component: RF}
  - !Storage {tensors: [U], component: GB}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Compute {einsum: U, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "T", "read"), 3);
  EXPECT_EQ(found.count("RF", "T", "read"), 0);
  EXPECT_EQ(found.peak_bits("RF"), 0);
}

const char* const kSharedRows = R"(
  - !Storage {tensors: [X, U, W, Y], component: DRAM}
  - !Temporal {rank_variable: [i, p], tile_shape: 1}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
)";

// Step 0 makes the 2 rows that Y reads, the other 3 steps one each: 5 of T's 7 rows.
TEST(SettledDifferences, RowsThatNobodyReadsAreNotMade) {
  const std::string reader =
      "    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal "
      "{rank_variable: r, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}\n";
  for (const int rows : {5, 6, 7}) {
    const Settled found(workload_of("\"T[i] = X[i] * U[i]\", \"Y[p] = T[I:p+r] * W[r]\"",
                                    "P: 4, I: " + std::to_string(rows), "0 <= r < 2"),
                        kSharedRows + reader);
    EXPECT_EQ(found.legal, rows == 5) << rows;
  }
}

// `p+1` is one value at another place, no window: step k of the loop makes row k, and Y reads row
// k+1. Where Q's own rows follow from Y's windows, T's follow from Q's: 3 and 1, of 5.
TEST(SettledDifferences, AValueAtAnotherPlaceIsNoWindow) {
  const Settled found(
      workload_of("\"T[i] = X[i] * U[i]\", \"Y[p] = T[I:p+1] * W[p]\"", "P: 4"),
      std::string(kSharedRows) +
          "    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: "
          "Y, component: MAC}]}\n");
  EXPECT_FALSE(found.legal);
  const Settled rows_of_rows(
      workload_of("\"T[i] = X[i] * U[i]\", \"Q[j] = T[I:j+1] * W[j]\", \"Y[p] = Q[J:p+r] * "
                  "H[r]\"",
                  "P: 3", "0 <= r < 2"),
      R"(
  - !Storage {tensors: [X, U, W, H, Y], component: DRAM}
  - !Temporal {rank_variable: [i, j, p], tile_shape: 1}
  - !Storage {tensors: [T, Q], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: j, tile_shape: 1}, !Compute {einsum: Q, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(rows_of_rows.legal);
  EXPECT_EQ(rows_of_rows.count("GB", "T", "write"), 5);
  EXPECT_EQ(rows_of_rows.peak_bits("GB"), (3 + 2) * 8);
}

// Two instances add their halves of k to S[i+1] in DRAM; the next step reads what both have made:
// the spatial loop runs anew. Above the loop over steps an instance would need the other's half.
TEST(SettledDifferences, AStepOfAStateMayBeSpreadOverInstances) {
  std::string workload = workload_of("\"S[i+1] = S[i] * A[i,k]\"", "I: 3, K: 2");
  workload.insert(workload.find("  einsums"), "  initial: {S: 2}\n");
  const auto mapping = [](const std::string& outer, const std::string& inner) {
    return "\n  - !Storage {tensors: [A, S], component: DRAM}\n  - !Storage {tensors: [A], "
           "component: GB}\n" +
           outer + inner + "  - !Compute {einsum: S, component: MAC}\n";
  };
  const std::string steps = "  - !Temporal {rank_variable: i, tile_shape: 1}\n";
  const std::string spread =
      "  - !Spatial {rank_variable: k, tile_shape: 1, component: GB, name: g}\n";
  const Settled inside(workload, mapping(steps, spread));
  ASSERT_TRUE(inside.legal);
  EXPECT_EQ(inside.count("DRAM", "A", "read"), 3 * 2);
  const Settled outside(workload, mapping(spread, steps));
  EXPECT_FALSE(outside.legal);
}

// T has rows 0..7, Y reads -1..6: nine values in GB.
TEST(SettledDifferences, BordersOnOneSideWidenWhatIsHeld) {
  const Settled found(workload_of("\"T[i] = X[i] * U[i]\", \"Y[p] = T[I:p+2*r-1] * W[r]\"",
                                  "P: 4, I: 8", "0 <= r < 3"),
                      R"(
  - !Storage {tensors: [X, U, W, Y], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 9 * 8);
}

// Steps of 3 and 2 of q: X's tile is 9 wide (for 8 rows), then 7 (for 6 rows). Inside, T is made in
// 5 and 3 rows, then in 6: 9 + 5 and 7 + 6 values, never 9 + 6.
TEST(SettledDifferences, TheLargestTilesNeedNotMeet) {
  const Settled found(rows(5, 2, 2, 3), R"(
  - !Storage {tensors: [X, W, V, Y], component: DRAM}
  - !Temporal {rank_variable: [p, q], tile_shape: 3}
  - !Storage {tensors: [X], component: GB}
  - !Temporal {rank_variable: [p, q], tile_shape: 2}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: q, tile_shape: 1}, !Temporal {rank_variable: s, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), (9 + 5) * 8);
}

// Seed 22,117,572. U's branch holds T row by row: that is a storage of its own, which nobody fills,
// and not the one at the head of the other branches.
TEST(SettledDifferences, ALoopAboveABranchesOwnNodeMakesItAnother) {
  const auto with = [](const std::string& head, const std::string& rows) {
    return Settled(workload_of("\"T[m] = A[m] * B[m]\", \"U[m] = exp(T[m])\", \"V[m] = exp(T[m])\"",
                               "M: 3"),
                   R"(
  - !Storage {tensors: [A, B, U, V], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested
      nodes:
      - !Sequential
        nodes:
        - !Nested {nodes: [)" +
                       head + R"(!Storage {tensors: [T], component: GB}, )" + rows +
                       R"(!Compute {einsum: U, component: MAC}]}
        - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: V, component: MAC}]}
)")
        .legal;
  };
  const std::string loop = "!Temporal {rank_variable: m, tile_shape: 1}, ";
  EXPECT_TRUE(with("", loop));
  EXPECT_FALSE(with(loop, ""));
}

std::string state_read_behind(const std::string& slice) {
  return "workload:\n  rank_sizes: {I: 3, L: 2}\n  bits_per_value: {All: 8}\n  initial: {S: 0}\n"
         "  einsums: [\"S[i+1,l] = S[i,l] + X[i,l]\", \"Y[l] = S[" +
         slice + "] * W[l]\"]\n";
}

// In GB below the loop over the steps; `head` stands above the reader's node, `tail` below it.
std::string held_below_the_steps(const std::string& head, const std::string& tail) {
  return R"(
  - !Storage {tensors: [X, Y, W], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Storage {tensors: [S], component: GB}, !Temporal {rank_variable: l, tile_shape: 1}, !Compute {einsum: S, component: MAC}]}
    - !Nested {nodes: [)" +
         head + "!Storage {tensors: [S], component: GB}, " + tail +
         "!Compute {einsum: Y, component: MAC}]}\n";
}

// S is held below the loop over its steps, with the slice that a step reads and the one it writes:
// 2 · 2 values of 8 bits, not (3 + 1) · 2. The last slice, 2 values, stays there for Y, which reads
// it behind the loop.
TEST(SettledDifferences, TheLastSliceOfAStateStaysForReadersBehindTheLoop) {
  const std::string loop = "!Temporal {rank_variable: l, tile_shape: 1}, ";
  const Settled found(state_read_behind("i: 3,l"), held_below_the_steps("", loop));
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 2 * 2 * 8);
}

// The last step holds slices 2 and 3: 0 and 1 were pushed out.
TEST(SettledDifferences, EarlierSlicesOfAStateHaveLeftBehindTheLoop) {
  const std::string loop = "!Temporal {rank_variable: l, tile_shape: 1}, ";
  for (int slice = 0; slice <= 3; ++slice)
    EXPECT_EQ(Settled(state_read_behind("i: " + std::to_string(slice) + ",l"),
                      held_below_the_steps("", loop))
                  .legal,
              slice >= 2)
        << slice;
  EXPECT_FALSE(Settled(state_read_behind("i: 3,l"), held_below_the_steps(loop, "")).legal);
}

// Tiles of 2 steps: the last one makes slice 3 alone, and holds what it reads, slice 2.
TEST(SettledDifferences, AnUnevenLastTileEndsWithFewerSlices) {
  std::string nodes = held_below_the_steps("", "!Temporal {rank_variable: l, tile_shape: 1}, ");
  nodes.replace(nodes.find("tile_shape: 1"), 13, "tile_shape: 2");
  nodes.insert(nodes.find("!Temporal {rank_variable: l"),
               "!Temporal {rank_variable: i, tile_shape: 1}, ");
  for (int slice = 0; slice <= 3; ++slice)
    EXPECT_EQ(Settled(state_read_behind("i: " + std::to_string(slice) + ",l"), nodes).legal,
              slice >= 2)
        << slice;
}

// Two readers of an input, which nobody makes: no loop over steps, whatever the first one reads.
TEST(SettledDifferences, AnInputReadAtTwoPlacesIsNoState) {
  const Settled found(
      "workload:\n  rank_sizes: {I: 3, J: 4, L: 2}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"Z[i,l] = X[J:i,l] + X[J:i+1,l]\", \"Y[l] = X[J:3,l] * W[l]\"]\n",
      R"(
  - !Storage {tensors: [Z, Y, W], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: i, tile_shape: 1}, !Storage {tensors: [X], component: GB}, !Temporal {rank_variable: l, tile_shape: 1}, !Compute {einsum: Z, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [X], component: GB}, !Temporal {rank_variable: l, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  EXPECT_FALSE(found.legal);
}

// R has one step and is backed in RF, in each branch below a loop over instances of its own: the
// reader's instances are not the maker's, as for any other tensor.
TEST(SettledDifferences, AStateInInstancesOfSeparateLoopsIsNotThereForItsReader) {
  const std::string branch =
      "!Spatial {rank_variable: m, tile_shape: 1, component: GB, name: g}, "
      "!Storage {tensors: [R], component: RF}, ";
  const Settled found(
      "workload:\n  rank_sizes: {I: 1, M: 2}\n  bits_per_value: {All: 8}\n  initial: {R: 0}\n"
      "  einsums: [\"R[i+1,m] = max(R[i,m], L[i,m])\", \"D[i,m] = R[i,m] - R[i+1,m]\"]\n",
      R"(
  - !Storage {tensors: [L, D], component: DRAM}
  - !Sequential
    nodes:
    - !Nested {nodes: [)" +
          branch + R"(!Compute {einsum: R, component: MAC}]}
    - !Nested {nodes: [)" +
          branch + R"(!Compute {einsum: D, component: MAC}]}
)");
  EXPECT_FALSE(found.legal);
}

// Two Einsums make parts of T below loops that walk both parts: the model cannot price that, and
// does not say either that the reader is ahead of what makes the second part.
TEST(SettledDifferences, PartsBelowALoopOverBothAreNotPricedRatherThanIllegal) {
  const Settled found(
      "workload:\n  rank_sizes: {N: 1, L: 1, B: 2}\n  bits_per_value: {All: 8}\n"
      "  iteration_space_shape: [0 <= a < 2]\n"
      "  einsums:\n  - {einsum: \"T[M:a,n] = A[a,n] * F[n]\", name: T}\n"
      "  - {einsum: \"T[M:b+2,n] = exp(G[b,n])\", name: T_2}\n"
      "  - {einsum: \"Z[m,l] = T[m,n] * V[n,l]\", name: Z}\n",
      R"(
  - !Storage {tensors: [F, V], component: DRAM}
  - !Temporal {rank_variable: [b, a, m], tile_shape: 2}
  - !Spatial {rank_variable: [b, m, a], tile_shape: 1, component: GB, name: g}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [A], component: GB}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [G], component: GB}, !Compute {einsum: T_2, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [Z], component: GB}, !Compute {einsum: Z, component: MAC}]}
)");
  EXPECT_FALSE(found.legal);
}

}  // namespace
}  // namespace sluice::settled
