#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

Arch machine_with_buffer(const std::string& buffer_size = "inf") {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1),
                     memory("GB", buffer_size, "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  return arch;
}

/// T1 = T0, T2 = T1, T3 = T2, elementwise over m of 4: 4 values of 8 bits each.
Workload chain() {
  return WorkloadBuilder({{"m", 4}}, 8)
      .einsum("T1[m] = T0[m]")
      .einsum("T2[m] = T1[m]")
      .einsum("T3[m] = T2[m]")
      .workload;
}

NodeList step(const MappingBuilder& b, const char* einsum) {
  return {b.temporal("m", 1), b.compute(einsum, "MAC")};
}

// T1 lives in the first two steps, T2 in the last two: both in the middle one, 2 · 4 · 8 bits.
TEST(Occupancy, CountsATensorFromItsFirstToItsLastUse) {
  const Workload w = chain();
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"T0", "T3"}), b.storage("GB", {"T1", "T2"}),
                            b.sequential({step(b, "T1"), step(b, "T2"), step(b, "T3")})});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 64);
}

// The same with one backing node in each branch, as mappers print it.
TEST(Occupancy, ABackingNodeInSeveralBranchesIsOneReservation) {
  const Workload w = WorkloadBuilder({{"m", 4}}, 8)
                         .einsum("T1[m] = T0[m]")
                         .einsum("T2[m] = S[m]")
                         .einsum("T3[m] = T1[m] * T2[m]")
                         .workload;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const auto branch = [&](std::initializer_list<const char*> held, const char* einsum) {
    NodeList list = step(b, einsum);
    list.insert(list.begin(), b.storage("GB", held));
    return list;
  };
  const Cost cost = priced(
      w, arch,
      {b.storage("DRAM", {"T0", "S", "T3"}),
       b.sequential({branch({"T1"}, "T1"), branch({"T2"}, "T2"), branch({"T1", "T2"}, "T3")})});
  // While T2 is made, T1 waits for T3 although nothing in that branch names it.
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 64);
  ASSERT_EQ(cost.fusion_groups.size(), 1U);
  EXPECT_EQ(cost.fusion_groups[0].size(), 3U);
}

// A loop between the node and the split: the next step begins while the last one ends, so T1's row
// stays reserved in every branch: 3 nodes of one value, not 2.
TEST(Occupancy, ALoopBetweenNodeAndSplitKeepsTheNodeAlive) {
  const Workload w = WorkloadBuilder({{"m", 4}, {"n", 2}}, 8)
                         .einsum("T1[m,n] = T0[m,n]")
                         .einsum("T2[m,n] = T1[m,n]")
                         .einsum("T3[m,n] = T2[m,n]")
                         .workload;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const auto one = [&](const char* einsum) {
    return NodeList{b.temporal("n", 1), b.compute(einsum, "MAC")};
  };
  const NodeList children_below_loop = {b.storage("DRAM", {"T0", "T3"}),
                                        b.storage("GB", {"T1", "T2"}), b.temporal("m", 1),
                                        b.sequential({one("T1"), one("T2"), one("T3")})};
  EXPECT_EQ(peak_bits(priced(w, arch, children_below_loop), arch, "GB"), 2 * 8 * 8);
  const NodeList below = {b.storage("DRAM", {"T0", "T3"}), b.temporal("m", 1),
                          b.storage("GB", {"T1", "T2"}),
                          b.sequential({one("T1"), one("T2"), one("T3")})};
  EXPECT_EQ(peak_bits(priced(w, arch, below), arch, "GB"), 2 * 2 * 8);
}

TEST(Occupancy, APersistentTensorStaysForAllInstances) {
  Workload w = WorkloadBuilder({{"m", 4}, {"k", 2}}, 8)
                   .einsum("T[m] = X[m,k] * W[k]")
                   .einsum("U[m] = T[m]")
                   .persistent("W")
                   .workload;
  w.n_instances = 3;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  Node weights = b.storage("GB", {"W"});
  std::get<StorageNode>(weights.kind).persistent = true;
  const Cost cost =
      priced(w, arch,
             {weights, b.storage("DRAM", {"X", "T", "U"}),
              b.sequential({{b.temporal("m", 1), b.temporal("k", 1), b.compute("T", "MAC")},
                            step(b, "U")})});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 3 * 2 * 8);
}

TEST(Occupancy, DoubleBufferingReservesTwiceBelowALoop) {
  const Workload w = chain();
  Arch arch = machine_with_buffer();
  std::get<Memory>(arch.components[1].kind).buffering = Buffering::kDouble;
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"T0", "T3"}), b.storage("GB", {"T1", "T2"}),
                            b.sequential({{b.temporal("m", 2), b.storage("GB", {"T0"}),
                                           b.temporal("m", 1), b.compute("T1", "MAC")},
                                          step(b, "T2"),
                                          step(b, "T3")})});
  // T0 sinks to one value below m: doubled, 2 · 8; with T1 whole, 32. In the second step T1 and T2.
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 64);
  const Cost alone = priced(w, arch,
                            {b.storage("DRAM", {"T0", "T1", "T2", "T3"}),
                             b.sequential({{b.temporal("m", 2), b.storage("GB", {"T0"}),
                                            b.temporal("m", 1), b.compute("T1", "MAC")},
                                           step(b, "T2"),
                                           step(b, "T3")})});
  EXPECT_EQ(peak_bits(alone, arch, "GB"), 2 * 8);
}

// What stands below the backing nodes of a copy does not exist: nothing is reserved in GB.
TEST(Occupancy, ACopyReservesNothingBelowItsBackingNodes) {
  const Workload w = WorkloadBuilder({{"m", 4}}, 8).copy("U[m] = T[m]").workload;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"T", "U"}), b.storage("GB", {"T"}),
                            b.storage("GB", {"U"}), b.temporal("m", 1), b.compute("U", "MAC")});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 0);
  EXPECT_EQ(peak_bits(cost, arch, "DRAM"), 32);
}

// A running maximum: step i reads slice i and writes slice i + 1, so two slices of 3 values are
// held.
TEST(Occupancy, ARecurrenceHoldsTwoSlicesOfItsState) {
  const Workload w =
      WorkloadBuilder({{"i", 5}, {"m", 3}}, 8)
          .rank("I", 6)
          .einsum("S[I:i+1,m] = S[I:i,m] * L[J:i,m]", {OperationKind::kMax}, Reduction::kNone)
          .workload;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"L"}), b.temporal("i", 1), b.storage("GB", {"S"}),
                            b.temporal("m", 1), b.compute("S", "MAC")});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 2 * 3 * 8);
  // 15 points: each reads its state and writes the next one.
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"S", 15}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"S", 15}}));
}

TEST(Occupancy, AnOverflowNamesMemoryEinsumTensorsAndExcess) {
  const Workload w = chain();
  const Arch arch = machine_with_buffer("40");
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"T0", "T3"}), b.storage("GB", {"T1", "T2"}),
                          b.sequential({step(b, "T1"), step(b, "T2"), step(b, "T3")})};
  EXPECT_EQ(why_illegal(w, arch, nodes),
            "GB holds 40 bits; the Einsum T2 needs 64 (T1 32 = [4] × 8 bits, T2 32 = [4] × 8 "
            "bits), 24 too many.\n");
  std::vector<Violation> excess;
  const auto cost = evaluate_ignoring_capacity(bound(w, arch), Mapping{nodes, {}}, &excess);
  ASSERT_TRUE(cost.has_value());
  ASSERT_EQ(excess.size(), 1U);
  EXPECT_EQ(excess[0].excess_bits, 24);
}

// U is T under another name. T is persistent and there once an instance of the workload, 2 · 32
// bits, while V (8 bits) is made, too.
TEST(Occupancy, APersistentTensorStaysUnderItsOtherName) {
  Workload w = WorkloadBuilder({{"m", 4}}, 8)
                   .copy("U[m] = T[m]")
                   .einsum("V[] = U[m]")
                   .persistent("T")
                   .workload;
  w.n_instances = 2;
  const Arch arch = machine_with_buffer();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(
      w, arch,
      {b.storage("DRAM", {"T", "U", "V"}),
       b.sequential({{b.compute("U", "MAC")}, {b.temporal("m", 1), b.compute("V", "MAC")}})});
  EXPECT_EQ(peak_bits(cost, arch, "DRAM"), 2 * 32 + 8);
}

}  // namespace
}  // namespace sluice::testing
