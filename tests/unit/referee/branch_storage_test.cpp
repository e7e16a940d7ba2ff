// Backing storages of one tensor in several branches are one reservation, which is there from the
// first to the last of them. All values have 8 bits.
#include <gtest/gtest.h>

#include "unit/referee/small_problem.h"

namespace sluice::testing {
namespace {

/// A running sum over I 4 steps (5 slices) of M 3 values, whose last slice F reads; in between B
/// with 4·3 values of Y. G and H, with V and W of K values, have nothing to do with it.
struct LastSlice : ::testing::Test {
  explicit LastSlice(std::int64_t k = 17)
      : w(SmallWorkload({{"i", 4}, {"m", 3}, {"k", k}})
              .einsum("G[k] = V[k]")
              .einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]")
              .einsum("B[J:i,m] = Y[J:i,m]")
              .einsum("F[m] = S[I:4,m] + Z[m]")
              .einsum("H[k] = W[k]")
              .workload) {}

  Node outside() const { return b.hold("DRAM", {"X", "Z", "B", "F", "G", "H"}); }
  NodeList made() const {
    return {b.loop({"i"}, 1), b.hold("GB", {"S"}), b.loop({"m"}, 1), b.compute("S")};
  }
  NodeList between() const {
    return {b.hold("GB", {"Y"}), b.loop({"i"}, 1), b.loop({"m"}, 1), b.compute("B")};
  }
  NodeList read() const { return {b.hold("GB", {"S"}), b.loop({"m"}, 1), b.compute("F")}; }
  NodeList other(const char* einsum, const char* input) const {
    return {b.hold("GB", {input}), b.loop({"k"}, 1), b.compute(einsum)};
  }

  Workload w;
  Arch arch = small_machine();
  SmallMapping b{w, arch};
};

// 2 slices of 3 values, also while B runs, whose reader has 1 slice. G and H have their 17 alone.
TEST_F(LastSlice, StaysUntilItsReader) {
  EXPECT_EQ(
      b.peak_bits("GB", {outside(), SmallMapping::sequential({other("G", "V"), made(), between(),
                                                              read(), other("H", "W")})}),
      (2 * 3 + 4 * 3) * 8);
}

// The same in branches of branches: S is not there before its maker, and not behind its reader.
TEST_F(LastSlice, StaysUntilItsReaderInBranchesOfBranches) {
  EXPECT_EQ(
      b.peak_bits("GB", {outside(), SmallMapping::sequential(
                                        {{SmallMapping::sequential({other("G", "V"), made()})},
                                         between(),
                                         {SmallMapping::sequential({read(), other("H", "W")})}})}),
      (2 * 3 + 4 * 3) * 8);
  EXPECT_EQ(
      b.peak_bits("GB",
                  {outside(), SmallMapping::sequential(
                                  {{SmallMapping::sequential({other("G", "V"), made(), between()})},
                                   {SmallMapping::sequential({read(), other("H", "W")})}})}),
      (2 * 3 + 4 * 3) * 8);
}

// Beside its maker and its reader alone: H in between has 17 values, and S its 2 slices.
TEST_F(LastSlice, IsThereInTheWholeOfTheBranchInBetween) {
  EXPECT_EQ(b.peak_bits(
                "GB", {outside(), SmallMapping::sequential({other("G", "V"), made(),
                                                            other("H", "W"), between(), read()})}),
            (2 * 3 + 17) * 8);
}

// One m after the other: 2 slices of one value, 4 values of Y. The loop over m hands nothing on, so
// S is not there while D has 5 values.
TEST(BranchStorage, LivesInEachStepOfALoopAround) {
  const Workload w = SmallWorkload({{"i", 4}, {"m", 3}, {"k", 5}})
                         .einsum("D[m] = V[m,k]")
                         .einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]")
                         .einsum("B[J:i,m] = Y[J:i,m]")
                         .einsum("F[m] = S[I:4,m] + Z[m]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits(
          "GB", {b.hold("DRAM", {"X", "Z", "B", "D", "F"}), b.loop({"m"}, 1),
                 SmallMapping::sequential({{b.hold("GB", {"V"}), b.loop({"k"}, 1), b.compute("D")},
                                           {b.loop({"i"}, 1), b.hold("GB", {"S"}), b.compute("S")},
                                           {b.hold("GB", {"Y"}), b.loop({"i"}, 1), b.compute("B")},
                                           {b.hold("GB", {"S"}), b.compute("F")}})}),
      (2 + 4) * 8);
}

// An input of which two Einsums read parts of their own, row by row and in two rows. It is as large
// as two rows while the first runs, too, and in between.
TEST(BranchStorage, OfAnInputIsAsLargeAsTheLargest) {
  const Workload w = SmallWorkload({{"i", 4}, {"m", 3}})
                         .einsum("A[J:i,m] = X[I:i,m]")
                         .einsum("B[J:i,m] = Y[J:i,m]")
                         .einsum("C[J:i,m] = X[I:i+4,m]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  const auto part = [&](std::int64_t rows, const char* einsum) {
    return NodeList{b.loop({"i"}, rows), b.hold("GB", {"X"}), b.loop({"i"}, 1), b.loop({"m"}, 1),
                    b.compute(einsum)};
  };
  EXPECT_EQ(b.peak_bits("GB", {b.hold("DRAM", {"A", "B", "C"}),
                               SmallMapping::sequential({part(1, "A"),
                                                         {b.hold("GB", {"Y"}), b.loop({"i"}, 1),
                                                          b.loop({"m"}, 1), b.compute("B")},
                                                         part(2, "C")})}),
            (2 * 3 + 4 * 3) * 8);
}

}  // namespace
}  // namespace sluice::testing
