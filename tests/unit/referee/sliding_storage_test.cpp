// How long sliding storages are reserved that keep what two steps have in common. All values have 8
// bits.
#include <gtest/gtest.h>

#include "unit/referee/small_problem.h"

namespace sluice::testing {
namespace {

/// A window on X, and an Einsum that has nothing to do with it. P 4, M 3; GB has one row of Y in
/// each step.
struct Window : ::testing::Test {
  explicit Window(std::int64_t taps = 3)
      : w(SmallWorkload({{"p", 4}, {"r", taps}, {"m", 3}, {"k", 7}})
              .einsum("A[p] = X[N:p+r] + U[r]")
              .einsum("D[p] = Y[p,m]")
              .einsum("C[k] = Z[k]")
              .workload) {}

  NodeList outside() const { return {b.hold("DRAM", {"X", "U", "A", "D", "C"})}; }
  NodeList window() const { return {b.loop({"r"}, 1), b.loop({"p"}, 1), b.compute("A")}; }
  NodeList other() const {
    return {b.hold("GB", {"Y"}), b.loop({"p"}, 1), b.loop({"m"}, 1), b.compute("D")};
  }
  NodeList last() const { return {b.hold("GB", {"Z"}), b.loop({"k"}, 1), b.compute("C")}; }
  /// The loop over p with X at its head, and the other Einsum before or behind its reader.
  NodeList steps(std::int64_t tile, Node held, bool other_first = false) const {
    std::vector<NodeList> children = {window(), other()};
    if (other_first) std::swap(children[0], children[1]);
    return {b.loop({"p"}, tile), held, SmallMapping::sequential(children)};
  }
  double peak(NodeList nodes) const {
    NodeList all = outside();
    all.push_back(SmallMapping::sequential({nodes, last()}));
    return b.peak_bits("GB", all);
  }

  Workload w;
  Arch arch = small_machine();
  SmallMapping b{w, arch};
};

struct OneTap : Window {
  OneTap() : Window(1) {}
};

// Two of the 3 values of X stay for the next step while D has 3 of Y; nothing is left of them while
// C has 7 of Z. So 6 at one time, then 7.
TEST_F(Window, IsGoneWhenItsLoopHasEnded) { EXPECT_EQ(peak(steps(1, b.slide("GB", "X"))), 7 * 8); }

// The same with 2 rows of p: 4 values of X, 2·3 of Y.
TEST_F(Window, IsThereInAllChildrenOfItsLoop) {
  for (const bool other_first : {false, true})
    EXPECT_EQ(peak(steps(2, b.slide("GB", "X"), other_first)), (4 + 2 * 3) * 8) << other_first;
}

// Above the loop that it slides over.
TEST_F(Window, MayBeWrittenAboveItsLoop) {
  EXPECT_EQ(
      peak({b.slide("GB", "X"), b.loop({"p"}, 2), SmallMapping::sequential({window(), other()})}),
      (4 + 2 * 3) * 8);
}

// It brings its 4 values in each step, and is there for its reader alone: Z is the most.
TEST_F(Window, KeepsNothingUnlessItSlides) {
  EXPECT_EQ(peak(steps(2, b.hold("GB", {"X"}))), 7 * 8);
}

// One step: 6 values of X for A, 4·3 of Y for D.
TEST_F(Window, KeepsNothingInALoopOfOneStep) {
  EXPECT_EQ(peak(steps(4, b.slide("GB", "X"))), 4 * 3 * 8);
}

// Tiles of 2 and 2 values that have nothing in common: 2·3 of Y alone, then 7 of Z.
TEST_F(OneTap, KeepsNothingWhereTheTilesHaveNothingInCommon) {
  EXPECT_EQ(peak(steps(2, b.slide("GB", "X"))), 7 * 8);
}

// P 4 in tiles of 3 and 1: X has 5 values and then 3, Y 3·3 and then 3.
TEST_F(Window, HasTheTileOfTheStep) {
  EXPECT_EQ(peak(steps(3, b.slide("GB", "X"))), (5 + 3 * 3) * 8);
  EXPECT_EQ(peak({b.loop({"p"}, 3, 1), b.slide("GB", "X"),
                  SmallMapping::sequential({window(), other()})}),
            (5 + 3 * 3) * 8);  // 1 and 3
}

// Twice in a double buffer.
TEST_F(Window, TakesTwiceTheRoomInADoubleBuffer) {
  arch = small_machine(Buffering::kDouble);
  EXPECT_EQ(peak(steps(2, b.slide("GB", "X"))), 2 * (4 + 2 * 3) * 8);
}

// A serves A and E: one reservation, of what both read: p + r up to p + r + 1.
TEST(SlidingStorage, OfSeveralReadersIsOneReservation) {
  const Workload w = SmallWorkload({{"p", 4}, {"r", 3}, {"m", 3}})
                         .einsum("A[p] = X[N:p+r] + U[r]")
                         .einsum("D[p] = Y[p,m]")
                         .einsum("E[p] = X[N:p+r+1] + V[r]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits(
          "GB",
          {b.hold("DRAM", {"X", "U", "V", "A", "D", "E"}), b.loop({"p"}, 1), b.slide("GB", "X"),
           SmallMapping::sequential({{b.loop({"r"}, 1), b.compute("A")},
                                     {b.hold("GB", {"Y"}), b.loop({"m"}, 1), b.compute("D")},
                                     {b.loop({"r"}, 1), b.compute("E")}})}),
      (4 + 3) * 8);
}

}  // namespace
}  // namespace sluice::testing
