// A convolution after a convolution, fused row by row:
//   T[p] = X[p+r] · W[r]    p 10, r 3: X has 12 values, T 10
//   Y[q] = T[q+s] · V[s]    q 8, s 3
// The shared loop is the consumer's q, tiles of 2, four steps. T's backing node below it holds
// 1·(2−1)+3 = 4 values; the first step makes all 4, the other three 2 new ones each: 4 + 3·2 = 10.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

struct RowFusion : ::testing::Test {
  Workload w = WorkloadBuilder({{"p", 10}, {"r", 3}, {"q", 8}, {"s", 3}}, 8)
                   .einsum("T[p] = X[p+r] * W[r]")
                   .einsum("Y[q] = T[P:q+s] * V[s]")
                   .workload;
  Arch arch;
  RowFusion() {
    arch.components = {memory("DRAM", "inf", "Nothing", 10, 1),
                       memory("GB", "inf", "Nothing", 1, 1),
                       compute("MAC", {{"compute", 1, 1, 1, 0}})};
  }
  MappingBuilder b{w, arch};

  NodeList fused(std::int64_t tile) {
    Node shared = b.temporal("q", tile);
    auto& loop = std::get<TemporalNode>(shared.kind);
    loop.variables.push_back(find_rank_variable(w, "p").value());
    return {b.storage("DRAM", {"X", "W", "V", "Y"}), shared, b.storage("GB", {"T"}),
            b.sequential({{b.temporal("p", 1), b.temporal("r", 1), b.compute("T", "MAC")},
                          {b.temporal("q", 1), b.temporal("s", 1), b.compute("Y", "MAC")}})};
  }
};

TEST_F(RowFusion, MakesEveryRowOnce) {
  const Cost cost = priced(w, arch, fused(2));
  EXPECT_EQ(values(cost, w, arch, "MAC", "compute"), (Values{{"", 10 * 3 + 8 * 3}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"T", 30}}));
  // 30 accumulating reads less 10 first ones, and 24 by the consumer.
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"T", 30 - 10 + 24}}));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("X"), 30);
}

TEST_F(RowFusion, HoldsTheWindowOfTheConsumersTile) {
  EXPECT_EQ(peak_bits(priced(w, arch, fused(2)), arch, "GB"), 4 * 8);
  EXPECT_EQ(peak_bits(priced(w, arch, fused(4)), arch, "GB"), 6 * 8);
}

TEST_F(RowFusion, AcceptsAStatedFirstTile) {
  NodeList nodes = fused(2);
  std::get<TemporalNode>(nodes[1].kind).initial_tile_shape = 4;
  EXPECT_EQ(priced(w, arch, nodes), priced(w, arch, fused(2)));
}

// Stride s, window R, Q 8 outputs in tiles of t: s·(Q−1)+R rows, each made once, s·(t−1)+R of them
// held.
TEST_F(RowFusion, MakesEveryRowOnceForAnyStrideWindowAndTile) {
  for (std::int64_t stride = 1; stride <= 3; ++stride)
    for (std::int64_t window = 1; window <= 4; ++window)
      for (std::int64_t tile : {1, 2, 4}) {
        const std::int64_t rows = stride * 7 + window;
        w = WorkloadBuilder({{"p", rows}, {"r", 1}, {"q", 8}, {"s", window}}, 8)
                .einsum("T[p] = X[p+r] * W[r]")
                .einsum("Y[q] = T[P:" + std::to_string(stride) + "*q+s] * V[s]")
                .workload;
        const Cost cost = priced(w, arch, fused(tile));
        EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"T", static_cast<double>(rows)}}))
            << stride << " " << window << " " << tile;
        const std::int64_t held = std::max(stride * tile, stride * (tile - 1) + window);
        EXPECT_EQ(peak_bits(cost, arch, "GB"), static_cast<double>(held) * 8)
            << stride << " " << window << " " << tile;
      }
}

// Two shared loops, tiles of 4 and then 2: still every row once, and a window of the inner tile.
TEST_F(RowFusion, NestsSharedLoops) {
  NodeList nodes = fused(4);
  nodes.insert(nodes.begin() + 2, fused(2)[1]);
  const Cost cost = priced(w, arch, nodes);
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"T", 30}}));
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 4 * 8);
}

// Z reads Y as it is; meanwhile the rows of T that two windows have in common wait for the next
// step: 4 of T beside 2 of Y in Y, and in Z.
TEST_F(RowFusion, KeepsRowsForTheNextStepWhileOthersRun) {
  w = WorkloadBuilder({{"p", 10}, {"r", 3}, {"q", 8}, {"s", 3}}, 8)
          .einsum("T[p] = X[p+r] * W[r]")
          .einsum("Y[q] = T[P:q+s] * V[s]")
          .einsum("Z[q] = Y[q] * U[q]")
          .workload;
  NodeList nodes = fused(2);
  std::get<SplitNode>(nodes.back().kind)
      .children.push_back({b.storage("GB", {"U", "Z"}), b.temporal("q", 1), b.compute("Z", "MAC")});
  nodes.front() = b.storage("DRAM", {"X", "W", "V", "U", "Z"});
  nodes.insert(nodes.begin() + 3, b.storage("GB", {"Y"}));
  // T of 4 rows, Y of 2, U's 2, which Z keeps from sinking, and one value of Z.
  EXPECT_EQ(peak_bits(priced(w, arch, nodes), arch, "GB"), (4 + 2 + 2 + 1) * 8);
}

// A node of two tensors is two nodes in a row, also where it slides over the loop above it.
TEST_F(RowFusion, ANodeOfSeveralTensorsSlidesLikeSeveralNodes) {
  const auto with = [&](NodeList held) {
    NodeList nodes = fused(2);
    NodeList& make = std::get<SplitNode>(nodes.back().kind).children.front();
    for (Node& node : held) std::get<StorageNode>(node.kind).sliding = true;
    make.insert(make.begin() + 1, held.begin(), held.end());  // below the loop over p
    return priced(w, arch, nodes);
  };
  const Cost one = with({b.storage("GB", {"X", "W"})});
  const Cost two = with({b.storage("GB", {"X"}), b.storage("GB", {"W"})});
  EXPECT_EQ(one, two);
  // In each of four steps the whole window first: 3 values, then one more for each row.
  EXPECT_EQ(values(one, w, arch, "DRAM", "read").at("X"), 4 * 3 + (10 - 4));
}

// Two instances with four windows each: the second needs rows 4 and 5, which the first has made in
// its own buffer.
TEST_F(RowFusion, InstancesCannotShareRows) {
  arch.components[1].spatial = {dimension("g", 2)};
  NodeList nodes = fused(2);
  SpatialNode spread;
  spread.variables = std::get<TemporalNode>(nodes[1].kind).variables;
  spread.tile_shape = 4;
  spread.component = ComponentId(1);
  nodes[1].kind = spread;
  EXPECT_EQ(why_illegal(w, arch, nodes),
            "The loop over q stands above the backing storage of T in GB but does not index it "
            "directly.\n"
            "The Einsum Y reads windows of T that overlap between the instances of a spatial loop "
            "which it shares with the Einsum T; an instance cannot read what another one "
            "makes.\n");
}

}  // namespace
}  // namespace sluice::testing
