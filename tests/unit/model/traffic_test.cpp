#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

/// DRAM, a buffer, and one multiplier that does one point a second.
Arch main_and_buffer() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1), memory("GB", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  return arch;
}

/// The same with four processing elements, each with a register file.
Arch with_elements(const std::string& may_reuse) {
  Arch arch = main_and_buffer();
  arch.components.insert(arch.components.begin() + 2,
                         container("PE", {dimension("x", 4, may_reuse)}));
  arch.components.insert(arch.components.begin() + 3, memory("RF", "inf", "Nothing", 1, 1));
  return arch;
}

Workload matmul() {
  return WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 8)
      .einsum("C[m,n] = A[m,k] * B[k,n]")
      .workload;
}

// Buffered above m and n: each of A's 32 and B's 16 values is fetched once. C (8 values) stands
// above k: written back once, never read back (its first and only fill is skipped).
TEST(Traffic, FetchesEachValueOnceWhereEveryTensorIsBufferedWhole) {
  const Workload w = matmul();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), b.storage("GB", {"C", "A", "B"}),
              b.temporal("k", 1), b.temporal("m", 1), b.temporal("n", 1), b.compute("C", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"A", 32}, {"B", 16}}));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "write"), (Values{{"C", 8}}));
  // 64 points read A, B once each. C: 64 accumulating reads less 8 first ones, and 8 drains.
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"A", 64}, {"B", 64}, {"C", 64}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"A", 32}, {"B", 16}, {"C", 64}}));
}

// k is split 8 = 2 · 4 with the outer part above C's node: C (8 values) is written back twice and
// read back once. A's node is above no loop; B's below k: 2 · (4 · 2) values.
TEST(Traffic, ReadsPartialSumsBackOnEveryVisitButTheFirst) {
  const Workload w = matmul();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), b.temporal("k", 4), b.storage("GB", {"C"}),
              b.temporal("k", 1), b.temporal("m", 1), b.temporal("n", 1), b.compute("C", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "write"), (Values{{"C", 16}}));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"A", 64}, {"B", 64}, {"C", 8}}));
  // 64 accumulating reads less 8 first ones, and 2 · 8 drains; writes: 64 results and 8 fills.
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"C", 72}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"C", 72}}));
}

NodeList spread_over_m(const MappingBuilder& b) {
  return {b.storage("DRAM", {"A", "B", "C"}),
          b.spatial("m", 1, "PE"),
          b.storage("RF", {"B"}),
          b.temporal("k", 1),
          b.temporal("n", 1),
          b.compute("C", "MAC")};
}

// m does not index B: DRAM sends its 16 values once, each of the four elements receives all of
// them.
TEST(Traffic, MulticastsWhatASpatialLoopDoesNotIndex) {
  const Workload w = matmul();
  const Arch arch = with_elements("All");
  const Cost cost = priced(w, arch, spread_over_m(MappingBuilder(w, arch)));
  // B's node sinks below k and n: a tile of one value, fetched in each of 16 steps.
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("B"), 16);
  EXPECT_EQ(values(cost, w, arch, "RF", "write").at("B"), 64);
}

TEST(Traffic, ServesEachInstanceOnItsOwnWithoutReuse) {
  const Workload w = matmul();
  const Arch arch = with_elements("Nothing");
  const Cost cost = priced(w, arch, spread_over_m(MappingBuilder(w, arch)));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("B"), 64);
}

NodeList spread_over_k(const MappingBuilder& b) {
  return {b.storage("DRAM", {"A", "B", "C"}),
          b.spatial("k", 2, "PE"),
          b.storage("RF", {"C"}),
          b.temporal("m", 1),
          b.temporal("n", 1),
          b.temporal("k", 1),
          b.compute("C", "MAC")};
}

// Four elements hold partial sums of the same 8 values; the network adds them up on the way.
TEST(Traffic, ReducesPartialSumsOnTheWayUp) {
  const Workload w = matmul();
  const Arch arch = with_elements("All");
  const Cost cost = priced(w, arch, spread_over_k(MappingBuilder(w, arch)));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "write"), (Values{{"C", 8}}));
  EXPECT_EQ(values(cost, w, arch, "RF", "read").at("C"), 64 - 32 + 32);
  EXPECT_EQ(cost.unpriced_merge_values, 0);
}

// Without a reduction each element writes its 8 values; merging would need 3 · 8 reads.
TEST(Traffic, ReportsTheReadsThatMergingPartialSumsWouldNeed) {
  const Workload w = matmul();
  Arch arch = with_elements("Nothing");
  Cost cost = priced(w, arch, spread_over_k(MappingBuilder(w, arch)));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "write"), (Values{{"C", 32}}));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").count("C"), 0U);
  EXPECT_EQ(cost.unpriced_merge_values, 24);

  std::get<Memory>(arch.components[0].kind).merging_reads = MergingReads::kCounted;
  cost = priced(w, arch, spread_over_k(MappingBuilder(w, arch)));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("C"), 24);
  EXPECT_EQ(cost.unpriced_merge_values, 0);
}

// Y[p] = X[p+r] · W[r], p 6, r 3: X has 8 values. Tiles of 2 need 2 + 3 − 1 = 4 each: 3 · 4.
Workload convolution() {
  return WorkloadBuilder({{"p", 6}, {"r", 3}}, 8).einsum("Y[p] = X[p+r] * W[r]").workload;
}

NodeList rows_of_two(const MappingBuilder& b, bool sliding) {
  Node buffer = b.storage("GB", {"X"});
  std::get<StorageNode>(buffer.kind).sliding = sliding;
  return {b.storage("DRAM", {"X", "W", "Y"}),
          b.temporal("p", 2),
          buffer,
          b.temporal("p", 1),
          b.temporal("r", 1),
          b.compute("Y", "MAC")};
}

TEST(Traffic, RefetchesTheHaloOfEveryTile) {
  const Workload w = convolution();
  const Arch arch = main_and_buffer();
  const Cost cost = priced(w, arch, rows_of_two(MappingBuilder(w, arch), false));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("X"), 12);
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 4 * 8);
}

// A sliding node keeps what it has: 4 values in the first step, 2 new ones in each of two more.
TEST(Traffic, FetchesOnlyNewRowsIntoASlidingNode) {
  const Workload w = convolution();
  const Arch arch = main_and_buffer();
  const Cost cost = priced(w, arch, rows_of_two(MappingBuilder(w, arch), true));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("X"), 8);
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 4 * 8);
}

// m: 5 = 2 + 2 + 1. A (5 · 8 values) is relevant to m: each value once. B (16) is fetched in each
// of the three steps. 5 · 8 · 2 = 80 points.
TEST(Traffic, CountsASmallerLastTileExactly) {
  const Workload w = WorkloadBuilder({{"m", 5}, {"k", 8}, {"n", 2}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), b.temporal("m", 2), b.storage("GB", {"A", "B"}),
              b.temporal("n", 1), b.temporal("m", 1), b.temporal("k", 1), b.compute("C", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"A", 40}, {"B", 48}, {"C", 70}}));
  EXPECT_EQ(values(cost, w, arch, "MAC", "compute"), (Values{{"", 80}}));
  // A's tile of two rows, then B below its relevant n: 2 · 8 + 8 values.
  EXPECT_EQ(peak_bits(cost, arch, "GB"), (16 + 8) * 8);
}

// X has a rank of 6 although p + r reaches 8 values: each of the 18 operand reads is counted, and
// the points with p + r ≥ 6, (4,2), (5,1) and (5,2), read padding.
TEST(Traffic, ReportsReadsOutsideARankAsPadding) {
  const Workload w = WorkloadBuilder({{"p", 6}, {"r", 3}}, 8)
                         .rank("N", 6)
                         .einsum("Y[p] = X[N:p+r] * W[r]")
                         .workload;
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"X", "W", "Y"}), b.temporal("p", 1),
                            b.temporal("r", 1), b.compute("Y", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("X"), 18);
  EXPECT_EQ(cost.padding_values, 3);
}

// 16-bit partial sums in the buffer, 8 bits in DRAM, 64 bits an action of the buffer.
TEST(Traffic, UsesEachMemorysOwnWidths) {
  const Workload w = matmul();
  Arch arch = main_and_buffer();
  std::get<Memory>(arch.components[1].kind).bits_per_value = {
      {expression("Outputs"), expression("2 * C.bits_per_value")}};
  for (Action& action : arch.components[1].actions) action.bits_per_action = 64;
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), b.storage("GB", {"C"}), b.temporal("k", 1),
              b.temporal("m", 1), b.temporal("n", 1), b.compute("C", "MAC")});
  for (const EnergyRow& row : cost.energy) {
    if (row.action != "write" || !row.tensor || w[*row.tensor].name != "C") continue;
    const bool in_buffer = arch[row.component].name == "GB";
    EXPECT_EQ(row.bits, in_buffer ? 64 * 16 : 8 * 8);
    EXPECT_EQ(row.actions, in_buffer ? 64 * 16 / 64 : 8 * 8);
  }
}

TEST(Traffic, RepeatsAnEinsumForItsInstances) {
  Workload w = matmul();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}), b.temporal("k", 1),
                          b.temporal("m", 1), b.temporal("n", 1), b.compute("C", "MAC")};
  const Cost once = priced(w, arch, nodes);
  w.n_instances = 3;
  w.einsums[0].n_instances = 2;
  const Cost often = priced(w, arch, nodes);
  EXPECT_DOUBLE_EQ(often.energy_j, 6 * once.energy_j);
  EXPECT_DOUBLE_EQ(often.latency_s, 6 * once.latency_s);
  EXPECT_EQ(values(often, w, arch, "MAC", "compute"), (Values{{"", 6 * 64}}));
}

// A toll between DRAM and the buffer is charged for the 16 values of B that pass, holding nothing.
TEST(Traffic, ChargesATollForWhatPasses) {
  const Workload w = matmul();
  Arch arch = main_and_buffer();
  Component link;
  link.name = "Link";
  Toll toll;
  toll.tensors.keep = expression("All");
  link.kind = toll;
  link.actions = {{"read", 2, 4, 1, 0}};
  arch.components.insert(arch.components.begin() + 1, link);
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A", "B", "C"}), b.storage("Link", {"B", "C"}),
                            b.storage("GB", {"C"}), b.storage("GB", {"B"}), b.temporal("k", 1),
                            b.temporal("m", 1), b.temporal("n", 1), b.compute("C", "MAC")});
  // C passes upwards once: 8 values; its first fills, downwards, are skipped. B sinks below k.
  EXPECT_EQ(values(cost, w, arch, "Link", "read"), (Values{{"B", 16}, {"C", 8}}));
  EXPECT_EQ(cost.occupancy.size(), 2U);
}

Workload copied() {
  return WorkloadBuilder({{"m", 4}, {"n", 2}}, 8)
      .copy("U[m,n] = T[m,n]")
      .einsum("V[m] = U[m,n]")
      .workload;
}

TEST(Traffic, MovesACopyOnce) {
  const Workload w = copied();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"T", "V"}), b.storage("GB", {"U"}),
              b.sequential({{b.temporal("m", 1), b.temporal("n", 1), b.compute("U", "MAC")},
                            {b.temporal("m", 1), b.temporal("n", 1), b.compute("V", "MAC")}})});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"T", 8}, {"V", 4}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"T", 8}}));    // under the input's name
  EXPECT_EQ(values(cost, w, arch, "MAC", "compute"), (Values{{"", 8}}));  // V's alone
}

// T passes through the buffer, where U stays: one read of DRAM, one write of the buffer.
TEST(Traffic, ACopyIntoAMemoryThatAlsoHoldsItsInputMovesOnce) {
  const Workload w = copied();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"T", "V"}), b.storage("GB", {"T"}), b.storage("GB", {"U"}),
              b.sequential({{b.temporal("m", 1), b.temporal("n", 1), b.compute("U", "MAC")},
                            {b.temporal("m", 1), b.temporal("n", 1), b.compute("V", "MAC")}})});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"T", 8}, {"V", 4}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"T", 8}}));
}

// T and U in one memory are the same bits: no traffic, and 8 values are reserved, not 16.
TEST(Traffic, ACopyWithinOneMemoryIsAnAlias) {
  const Workload w = copied();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("GB", {"T", "U"}), b.storage("DRAM", {"V"}),
              b.sequential({{b.temporal("m", 1), b.temporal("n", 1), b.compute("U", "MAC")},
                            {b.temporal("m", 1), b.temporal("n", 1), b.compute("V", "MAC")}})});
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{}));
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"U", 8}}));
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 64);
}

// A non-backing node above the split serves both children: filled for each of them, reserved once.
TEST(Traffic, ASharedInputIsFilledForEveryReader) {
  const Workload w =
      WorkloadBuilder({{"m", 4}}, 8).einsum("P[m] = X[m]").einsum("Q[m] = X[m]").workload;
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"X", "P", "Q"}), b.storage("GB", {"X"}),
                            b.sequential({{b.temporal("m", 1), b.compute("P", "MAC")},
                                          {b.temporal("m", 1), b.compute("Q", "MAC")}})});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"X", 8}}));
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 32);
}

// A node that names its Einsums does not exist for the others, and does not hold their nodes back:
// both copies sink below m to one value, and each lives only while its own Einsum runs.
TEST(Traffic, APrivateNodeServesOnlyTheEinsumsItNames) {
  const Workload w =
      WorkloadBuilder({{"m", 4}}, 8).einsum("P[m] = X[m]").einsum("Q[m] = X[m]").workload;
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  const auto copy_for = [&](const char* einsum) {
    Node node = b.storage("GB", {"X"});
    std::get<StorageNode>(node.kind).einsums = {find_einsum(w, einsum).value()};
    return node;
  };
  const NodeList end = {b.temporal("m", 1),
                        b.sequential({{b.compute("P", "MAC")}, {b.compute("Q", "MAC")}})};
  NodeList both = {b.storage("DRAM", {"X", "P", "Q"}), copy_for("P"), copy_for("Q")};
  both.insert(both.end(), end.begin(), end.end());
  EXPECT_EQ(peak_bits(priced(w, arch, both), arch, "GB"), 8);
  EXPECT_EQ(values(priced(w, arch, both), w, arch, "GB", "write"), (Values{{"X", 8}}));
  NodeList one = {b.storage("DRAM", {"X", "P", "Q"}), copy_for("P")};
  one.insert(one.end(), end.begin(), end.end());
  EXPECT_EQ(values(priced(w, arch, one), w, arch, "GB", "write"), (Values{{"X", 4}}));
}

// m: 5 rows over two instances, 3 and 2. Totals count both, times the busier one: 3 · 8 · 2 steps.
TEST(Traffic, AnUnevenSpatialLoopCountsEachInstanceForItself) {
  const Workload w = WorkloadBuilder({{"m", 5}, {"k", 8}, {"n", 2}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = with_elements("All");
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), b.spatial("m", 3, "PE"), b.storage("RF", {"A"}),
              b.temporal("n", 1), b.temporal("m", 1), b.temporal("k", 1), b.compute("C", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "MAC", "compute"), (Values{{"", 80}}));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("A"), 40);
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("B"), 3 * 8 * 2);  // multicast to both
  for (const LatencyRow& row : cost.latency)
    if (arch[row.component].name == "MAC") EXPECT_EQ(row.latency_s, 48);
  EXPECT_EQ(peak_bits(cost, arch, "RF"), 3 * 8 * 8);
}

// p: 6 = 4 + 2, the first tile larger: tiles of X of 4 + 2 and 2 + 2 values.
TEST(Traffic, ALargerFirstTileIsVisitedOnce) {
  const Workload w = convolution();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  NodeList nodes = rows_of_two(b, false);
  std::get<TemporalNode>(nodes[1].kind).initial_tile_shape = 4;
  const Cost cost = priced(w, arch, nodes);
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("X"), 6 + 4);
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 6 * 8);
  EXPECT_EQ(values(cost, w, arch, "MAC", "compute"), (Values{{"", 18}}));
}

// T is backed in DRAM, its copy U in the buffer: 8 values go down through the toll.
TEST(Traffic, ACopyPaysTollsOfItsOwnDirectionOnly) {
  const Workload w = WorkloadBuilder({{"m", 8}}, 8).copy("U[m] = T[m]").workload;
  for (const auto& [direction, crossed] :
       {std::pair{Toll::Direction::kDown, 8.0}, {Toll::Direction::kUp, 0.0}}) {
    Arch arch = main_and_buffer();
    Component link;
    link.name = "Link";
    Toll toll;
    toll.tensors.keep = expression("All");
    toll.direction = direction;
    link.kind = toll;
    link.actions = {{"read", 2, 4, 1, 0, {}}};
    arch.components.insert(arch.components.begin() + 1, link);
    const MappingBuilder b(w, arch);
    const Cost cost = priced(w, arch,
                             {b.storage("DRAM", {"T"}), b.storage("Link", {"T"}),
                              b.storage("GB", {"U"}), b.compute("U", "MAC")});
    double passed = 0;
    for (const auto& [tensor, count] : values(cost, w, arch, "Link", "read")) passed += count;
    EXPECT_EQ(passed, crossed);
  }
}

// A first tile of all four rows is the only one: the loop has one step and B's node sinks past it.
TEST(Traffic, AFirstTileThatIsEverythingIsTheOnlyStep) {
  const Workload w = matmul();
  const Arch arch = main_and_buffer();
  const MappingBuilder b(w, arch);
  Node loop = b.temporal("m", 1);
  std::get<TemporalNode>(loop.kind).initial_tile_shape = 4;
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B", "C"}), loop, b.storage("GB", {"B"}), b.temporal("m", 1),
              b.temporal("k", 1), b.temporal("n", 1), b.compute("C", "MAC")});
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read").at("B"), 16);
}

}  // namespace
}  // namespace sluice::testing
