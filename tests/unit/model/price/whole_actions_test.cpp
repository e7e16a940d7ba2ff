// `partial_actions: whole`: the actions of each tensor, rounded up at each instance in use.
#include "model/price/whole_actions.h"

#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

TEST(WholeActions, RoundUpWhatAnInstanceDoes) {
  EXPECT_EQ(whole_actions(5, 1, {8, 32}), 2);  // 40 bits in blocks of 32
  EXPECT_EQ(whole_actions(4, 1, {8, 32}), 1);
  EXPECT_EQ(whole_actions(0, 3, {8, 32}), 0);
  EXPECT_EQ(whole_actions(0, 0, {8, 32}), 0);
  EXPECT_EQ(whole_actions(5, 1, {0, 0}), 0);        // values without bits
  EXPECT_EQ(whole_actions(12, 3, {8, 32}), 3);      // 4 values each
  EXPECT_EQ(whole_actions(13, 3, {8, 32}), 3 * 2);  // 4 1/3 values each
  EXPECT_EQ(whole_actions(1, 3, {8, 32}), 3);
}

// 2^60 + 1 values of 8 bits in blocks of 8, and 3 · 10^15 of one in blocks of 3: no count is
// rounded on the way.
TEST(WholeActions, AreExactForLargeCounts) {
  EXPECT_EQ(whole_actions((std::int64_t{1} << 60) + 1, 1 << 20, {8, 8}),
            static_cast<double>(1 << 20) * ((std::int64_t{1} << 40) + 1));
  EXPECT_EQ(whole_actions(3'000'000'000'000'000, 1, {1, 3}), 1e15);
  EXPECT_EQ(whole_actions(3'000'000'000'000'001, 1, {1, 3}), 1e15 + 1);
}

// 3 · 0.1 is a little more than 0.3, and 49 · (1 / 49) less than 1.
TEST(WholeActions, TakeRoundingOfWidthsForNothing) {
  EXPECT_EQ(whole_actions(3, 1, {0.1, 0.3}), 1);
  EXPECT_EQ(whole_actions(30, 1, {0.1, 0.3}), 10);
  EXPECT_EQ(whole_actions(49, 1, {1.0 / 49, 1}), 1);
  EXPECT_EQ(whole_actions(6, 1, {6.5, 3 * 6.5}), 2);
  EXPECT_EQ(whole_actions(7, 1, {6.5, 3 * 6.5}), 3);
}

/// DRAM with accesses of 32 bits, elements with a register of accesses of 16: 4 and 2 values.
Arch machine_of_blocks() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1),
                     container("PE", {dimension("x", 4), dimension("y", 2)}),
                     memory("RF", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 0, 1, 1, 0}})};
  for (const auto& [index, bits] : {std::pair{0U, 32}, std::pair{2U, 16}}) {
    std::get<Memory>(arch.components[index].kind).partial_actions = PartialActions::kWhole;
    for (Action& action : arch.components[index].actions) action.bits_per_action = bits;
  }
  return arch;
}

double actions(const Cost& cost, const Workload& w, const Arch& arch, const std::string& component,
               const std::string& tensor, const std::string& action) {
  double sum = 0;
  for (const EnergyRow& row : cost.energy)
    if (arch[row.component].name == component && row.tensor && w[*row.tensor].name == tensor &&
        row.action == action)
      sum += row.actions;
  return sum;
}

double energy(const Cost& cost, const Arch& arch, const std::string& component) {
  double sum = 0;
  for (const EnergyRow& row : cost.energy)
    if (arch[row.component].name == component) sum += row.energy_j;
  return sum;
}

// 5 values of A are read and 5 of B written, in 2 accesses of 10 J each. Values are what they are,
// and so is the time: 5/4 s each.
TEST(WholeActions, RoundEachTensorAndActionByItself) {
  const Workload w = WorkloadBuilder({{"m", 5}, {"k", 1}}, 8).einsum("B[m] = A[m,k]").workload;
  Arch arch = machine_of_blocks();
  arch.components[3].actions[0].throughput = kUnbounded;
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch, {b.storage("DRAM", {"A", "B"}), b.temporal("m", 1), b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "DRAM", "A", "read"), 2);  // 5 values in blocks of 4
  EXPECT_EQ(actions(cost, w, arch, "DRAM", "B", "write"), 2);
  EXPECT_EQ(energy(cost, arch, "DRAM"), 10 * (2 + 2));
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"A", 5}}));
  EXPECT_EQ(cost.latency_s, 2 * 5 / 4.0);  // parts take their part of the time
}

// 6 values in two registers, 3 each: 2 accesses of 2 values in either. DRAM, one instance, reads 6
// values: 2 accesses of 4.
TEST(WholeActions, RoundUpAtEachInstance) {
  const Workload w = WorkloadBuilder({{"m", 6}, {"k", 1}}, 8).einsum("B[m] = A[m,k]").workload;
  const Arch arch = machine_of_blocks();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A", "B"}), b.spatial("m", 3, "PE"),
                            b.storage("RF", {"A"}), b.temporal("m", 1), b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "RF", "A", "read"), 2 * 2);
  EXPECT_EQ(actions(cost, w, arch, "RF", "A", "write"), 2 * 2);
  EXPECT_EQ(actions(cost, w, arch, "DRAM", "A", "read"), 2);
}

// Of 5 values, 3 registers have 2, 2 and 1; shared out evenly 5/3 each, an access of 2 values. The
// busiest one takes the time of its 2 values.
TEST(WholeActions, ShareUnevenWorkOutEvenly) {
  const Workload w = WorkloadBuilder({{"m", 5}, {"k", 1}}, 8).einsum("B[m] = A[m,k]").workload;
  Arch arch = machine_of_blocks();
  arch.components[0].actions[0].throughput = arch.components[0].actions[1].throughput = kUnbounded;
  arch.components[3].actions[0].throughput = kUnbounded;
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A", "B"}), b.spatial("m", 2, "PE"),
                            b.storage("RF", {"A"}), b.temporal("m", 1), b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "RF", "A", "read"), 3);
  EXPECT_EQ(cost.latency_s, 1 + 1);  // a read and a write
}

// m 5 in tiles of 2, then of 1: 5 of 3 · 2 registers have a value, an access each.
TEST(WholeActions, AreNoneOfInstancesWithoutWork) {
  const Workload w = WorkloadBuilder({{"m", 5}, {"k", 1}}, 8).einsum("B[m] = A[m,k]").workload;
  const Arch arch = machine_of_blocks();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "B"}), b.spatial("m", 2, "PE", 0), b.spatial("m", 1, "PE", 1),
              b.storage("RF", {"A"}), b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "RF", "A", "read"), 5);
}

// One run reads 5 values in 2 accesses; 3 · 2 runs in 12, and not 30 values in 8.
TEST(WholeActions, AreRepeatedAsTheEinsumIs) {
  Workload w = WorkloadBuilder({{"m", 5}, {"k", 1}}, 8).einsum("B[m] = A[m,k]").workload;
  w.n_instances = 3;
  w.einsums[0].n_instances = 2;
  const Arch arch = machine_of_blocks();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch, {b.storage("DRAM", {"A", "B"}), b.temporal("m", 1), b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "DRAM", "A", "read"), 3 * 2 * 2);
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"A", 30}}));
}

// A copy of 5 values from DRAM to one register: 2 accesses of 4, 3 of 2.
TEST(WholeActions, AreThoseOfBothEndsOfACopy) {
  const Workload w = WorkloadBuilder({{"m", 5}}, 8).copy("B[m] = A[m]").workload;
  const Arch arch = machine_of_blocks();
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A"}), b.storage("RF", {"B"}), b.temporal("m", 1),
                            b.compute("B", "MAC")});
  EXPECT_EQ(actions(cost, w, arch, "DRAM", "A", "read"), 2);
  EXPECT_EQ(actions(cost, w, arch, "RF", "A", "write"), 3);  // under the name of the input
}

}  // namespace
}  // namespace sluice::testing
