// Outputs with windows, `dX[2*p+r] = dY[p] * W[r]`: model and executor count the same, and what was
// found to be right. Of what an instance moves, each point is new to it once: the union of its
// tiles.
#include "settled_differences.h"

namespace sluice::settled {
namespace {

/// D[stride*p+r] = A[p] W[r], and what is given of the tensors' widths.
std::string adjoint(int p, int r, int stride) {
  return "workload:\n  rank_sizes: {P: " + std::to_string(p) + ", R: " + std::to_string(r) +
         "}\n  bits_per_value: {All: 8}\n  einsums: [\"D[X:" + std::to_string(stride) +
         "*p+r] = A[p] * W[r]\"]\n";
}

// 8 · 3 = 24 points add to 2·7 + 2 + 1 = 17 values: 24 − 17 sums are read, and 17 are drained.
TEST(SettledWindows, TheFirstSightOfAPointOfAWindowedOutputIsFree) {
  const Settled found(adjoint(8, 3, 2), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "D", "read"), 24 - 17 + 17);
  EXPECT_EQ(found.count("GB", "D", "write"), 24);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 17);
  EXPECT_EQ(found.count("DRAM", "D", "read"), 0);
}

// GB's tile of p 2 and r 3 has 2·1 + 2 + 1 = 5 values and moves by 4: 4 tiles, 20 values, 17
// points. The 3 values that two tiles share come back once each.
TEST(SettledWindows, ATileThatMovesByAWindowGoesBackWholeAndComesBackButForWhatIsNew) {
  for (const char* mark : {"", ", sliding: true"}) {
    const bool marked = *mark != 0;
    const std::string node =
        std::string("  - !Storage {tensors: [D], component: GB") + mark + "}\n";
    const std::string loop = "  - !Temporal {rank_variable: p, tile_shape: 2}\n";
    const Settled found(adjoint(8, 3, 2), "\n  - !Storage {tensors: [A, W, D], component: DRAM}\n" +
                                              (marked ? node + loop : loop + node) + R"(
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.count("DRAM", "D", "write"), 4 * 5);
    EXPECT_EQ(found.count("DRAM", "D", "read"), 4 * 5 - 17);
    EXPECT_EQ(found.peak_bits("GB"), 5 * 8);
  }
}

// Stride 3, filter 2: a tile of all p (4) and r (2) has 3·3 + 1 + 1 = 11 values, of which nobody
// computes 2, 5 and 8; they are moved like the others. The compute sees 8 points, each once.
TEST(SettledWindows, HolesOfALargeStrideAreMovedAndNeverComputed) {
  const Settled found(adjoint(4, 2, 3), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "D", "read"), 8 - 8 + 11);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 11);
}

// With one p and one r a tile the holes are seen by none: p 0..3 times r 0..1 at 3p + r.
TEST(SettledWindows, TilesOfALargeStrideAreApart) {
  const Settled found(adjoint(4, 2, 3), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 4 * 2);
  EXPECT_EQ(found.count("DRAM", "D", "read"), 0);
}

// Two instances with p 0..3 and 4..7, each with tiles of one p: 3 values, moved by 2. Each sees 2·3
// + 2 + 1 = 9 points in 4 · 3 = 12 values; value 8 is new to both.
TEST(SettledWindows, EachInstanceSeesItsOwnPoints) {
  const Settled found(adjoint(8, 3, 2), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Spatial {rank_variable: p, tile_shape: 4, component: Chip, name: c}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 2 * 12);
  EXPECT_EQ(found.count("DRAM", "D", "read"), 2 * (12 - 9));
  EXPECT_EQ(found.cost.unpriced_merge_values, 2 * 9 - 17);
}

// Tiles of 3, 3 and 2 values of p: 7, 7 and 5 values, 19 in all, 17 points.
TEST(SettledWindows, UnevenTilesAreUnitedAsTheyAre) {
  const Settled found(adjoint(8, 3, 2), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Temporal {rank_variable: p, tile_shape: 3}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 7 + 7 + 5);
  EXPECT_EQ(found.count("DRAM", "D", "read"), 19 - 17);
}

// D[p, p+r]: tiles of one p and two r lie in row p alone, 2 values wide. 3 rows of 4 values, of
// which each is seen once.
TEST(SettledWindows, RanksThatShareAVariableAreOneUnion) {
  const Settled found(
      "workload:\n  rank_sizes: {P: 3, R: 4}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"D[P:p, X:p+r] = A[p] * W[r]\"]\n",
      R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Temporal {rank_variable: r, tile_shape: 2}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [D], component: GB}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: D, component: MAC}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("DRAM", "D", "write"), 3 * 2 * 2);
  EXPECT_EQ(found.count("DRAM", "D", "read"), 0);
}

// The next Einsum reads what is made: all 17 values, once each, behind the last sum.
TEST(SettledWindows, AReaderFollowsTheWholeOutput) {
  const Settled found(
      "workload:\n  rank_sizes: {P: 8, R: 3}\n  bits_per_value: {All: 8}\n"
      "  einsums: [\"D[X:2*p+r] = A[p] * W[r]\", \"Y[x] = max(D[x], 0)\"]\n",
      R"(
  - !Storage {tensors: [A, W, Y], component: DRAM}
  - !Storage {tensors: [D], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: r, tile_shape: 1}, !Compute {einsum: D, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: x, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)");
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "D", "read"), 24 - 17 + 17);
}

// Seed 92,025,181. GB's tile goes from 2..4 to 4 (or 4..6): D[4] stays in RF, but GB takes its sum
// back. Not priced.
TEST(SettledWindows, ATileThatStaysWhereTheOneAboveMovesOnIsNotPriced) {
  for (const int p : {3, 4})
    EXPECT_FALSE(Settled(adjoint(p, 3, 2), R"(
  - !Storage {tensors: [A, W, D], component: DRAM}
  - !Temporal {rank_variable: p, tile_shape: 2}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Storage {tensors: [D], component: GB, incremental: true}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [D], component: RF, incremental: true}
  - !Compute {einsum: D, component: MAC}
)")
                     .legal);
}

}  // namespace
}  // namespace sluice::settled
