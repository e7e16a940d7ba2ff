#include "sluice/model/efficiency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

// C[m,n] = A[m,k]·B[k,n]: 4·8·2 = 64 points, 128 operations. DRAM reads 184 values of one bit and
// writes 64, 8 a second: 31 s; the MAC makes 2 points a second: 32 s.
struct EfficiencyOf : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 1)
                   .einsum("C[m,n] = A[m,k] * B[k,n]")
                   .workload;
  Arch arch;
  EfficiencyOf() {
    arch.components = {memory("DRAM", "inf", "Nothing", 1, 8),
                       container("PE", {dimension("x", 4), dimension("y", 2)}),
                       compute("MAC", {{"compute", 1, 2, 1, 0}})};
  }
  Efficiency of(NodeList loops) const {
    const MappingBuilder b(w, arch);
    loops.insert(loops.begin(), b.storage("DRAM", {"A", "B", "C"}));
    loops.push_back(b.compute("C", "MAC"));
    return efficiency(bound(w, arch), priced(w, arch, std::move(loops)));
  }
  Efficiency in_time() const {
    const MappingBuilder b(w, arch);
    return of({b.temporal("m", 1), b.temporal("k", 1), b.temporal("n", 1)});
  }
};

TEST_F(EfficiencyOf, CountsAMulAddAsTwoOperations) {
  const Efficiency found = in_time();
  EXPECT_EQ(found.operations, 128);
  EXPECT_EQ(found.operations_per_s, 128.0 / 32);
  const double energy = 184 + 64 + 64;  // 1 J a value, 1 J a point
  EXPECT_DOUBLE_EQ(*found.operations_per_j, 128 / energy);
  EXPECT_DOUBLE_EQ(*found.power_w, energy / 32);
}

TEST_F(EfficiencyOf, IsTheWorkOfAllInstances) {
  const Efficiency found = in_time();
  ASSERT_EQ(found.utilisation.size(), 2u);
  EXPECT_DOUBLE_EQ(*found.utilisation[0].of_peak, 31.0 / 32);  // DRAM
  EXPECT_DOUBLE_EQ(*found.utilisation[0].busy, 31.0 / 32);
  EXPECT_DOUBLE_EQ(*found.utilisation[1].of_peak, 1.0 / 8);  // one of 8 MACs works all the time
  EXPECT_DOUBLE_EQ(*found.utilisation[1].busy, 1);
}

TEST_F(EfficiencyOf, SaysWhereTheRooflineIs) {
  const auto roofline = in_time().roofline;
  ASSERT_TRUE(roofline);
  EXPECT_DOUBLE_EQ(roofline->operations_per_bit, 128.0 / 248);
  // All MACs take 64 / 16 = 4 s, the memory 31 s: bound by memory, 128 operations in 31 s at best.
  EXPECT_FALSE(roofline->is_compute_bound());
  EXPECT_DOUBLE_EQ(roofline->ridge_operations_per_bit, (128.0 / 4) / (248.0 / 31));
  EXPECT_DOUBLE_EQ(roofline->roof_operations_per_s, 128.0 / 31);
  EXPECT_DOUBLE_EQ(roofline->operations_per_s, 128.0 / 32);
}

TEST_F(EfficiencyOf, IsNotKnownWithoutRates) {
  arch.components[0].actions[0].throughput = arch.components[0].actions[1].throughput = kUnbounded;
  const Efficiency found = in_time();
  EXPECT_EQ(found.utilisation[0].of_peak, std::nullopt);
  EXPECT_EQ(found.roofline, std::nullopt);
  arch.components[2].actions[0].throughput = kUnbounded;
  EXPECT_EQ(in_time().operations_per_s, std::nullopt);  // it takes no time at all
}

}  // namespace
}  // namespace sluice::testing
