// How long storages are reserved whose values go from one step of a loop to the next. All values
// have 8 bits.
#include <gtest/gtest.h>

#include "unit/referee/small_problem.h"

namespace sluice::testing {
namespace {

/// Two running sums and their readers over I 4 steps (5 slices) of M 3 values:
///   S[i+1] = S[i] + X[i]   A[i] = S[i+1] + Y[i]   R[i+1] = R[i] + V[i]   B[i] = R[i+1] + Z[i]
struct TwoStates : ::testing::Test {
  Workload w = SmallWorkload({{"i", 4}, {"m", 3}})
                   .einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]")
                   .einsum("A[J:i,m] = S[I:i+1,m] + Y[J:i,m]")
                   .einsum("R[I:i+1,m] = R[I:i,m] + V[J:i,m]")
                   .einsum("B[J:i,m] = R[I:i+1,m] + Z[J:i,m]")
                   .workload;
  Arch arch = small_machine();
  SmallMapping b{w, arch};

  /// A child of the loop over i: what it keeps in GB, and a loop over m.
  NodeList step(const char* einsum, std::initializer_list<const char*> in_gb) const {
    return {b.hold("GB", in_gb), b.loop({"m"}, 1), b.compute(einsum)};
  }
  /// Where GB has the states alone, each in the Einsums that use it.
  double peak_of_states() const {
    return b.peak_bits("GB", {b.hold("DRAM", {"X", "Y", "V", "Z", "A", "B"}), b.loop({"i"}, 1),
                              SmallMapping::sequential({step("S", {"S"}), step("A", {"S"}),
                                                        step("R", {"R"}), step("B", {"R"})})});
  }
};

// S and R, two slices of 3 values each. Neither is used by all four Einsums.
TEST_F(TwoStates, AreThereInAllEinsumsOfTheLoopOverTheirSteps) {
  EXPECT_EQ(peak_of_states(), (2 * 3 + 2 * 3) * 8);
}

// In whichever Einsum GB has one slice of an input (3 values) as well, both states are there, too.
TEST_F(TwoStates, AreThereBesideWhatEachEinsumHolds) {
  const auto peak = [&](std::size_t with_input) {
    const std::vector<const char*> einsums = {"S", "A", "R", "B"}, states = {"S", "S", "R", "R"},
                                   inputs = {"X", "Y", "V", "Z"};
    std::vector<NodeList> children;
    NodeList nodes = {b.hold("DRAM", {"A", "B"})};
    for (std::size_t e = 0; e < 4; ++e) {
      if (e != with_input) nodes.push_back(b.hold("DRAM", {inputs[e]}));
      children.push_back(e == with_input ? step(einsums[e], {states[e], inputs[e]})
                                         : step(einsums[e], {states[e]}));
    }
    nodes.push_back(b.loop({"i"}, 1));
    nodes.push_back(SmallMapping::sequential(children));
    return b.peak_bits("GB", nodes);
  };
  for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(peak(e), (2 * 3 + 2 * 3 + 3) * 8) << e;
}

// Written once above the split: the same.
TEST_F(TwoStates, MayBeHeldAboveTheirSplit) {
  EXPECT_EQ(b.peak_bits("GB", {b.hold("DRAM", {"X", "Y", "V", "A", "B"}), b.loop({"i"}, 1),
                               b.hold("GB", {"S", "R"}),
                               SmallMapping::sequential({{b.loop({"m"}, 1), b.compute("S")},
                                                         {b.loop({"m"}, 1), b.compute("A")},
                                                         {b.loop({"m"}, 1), b.compute("R")},
                                                         step("B", {"Z"})})}),
            (2 * 3 + 2 * 3 + 3) * 8);
}

// Twice in a double buffer, like all tiles below a loop.
TEST_F(TwoStates, TakeTwiceTheRoomInADoubleBuffer) {
  arch = small_machine(Buffering::kDouble);
  EXPECT_EQ(peak_of_states(), 2 * (2 * 3 + 2 * 3) * 8);
}

// One m after the other: all steps of S, then all of B. S (2 slices of one value) is not handed on
// over m: it is gone when its steps have ended, and B has 4 values of Y.
TEST_F(TwoStates, AreGoneWhenTheLoopOverTheirStepsHasEnded) {
  const Workload alone = SmallWorkload({{"i", 4}, {"m", 3}})
                             .einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]")
                             .einsum("B[J:i,m] = Y[J:i,m]")
                             .workload;
  const SmallMapping of(alone, arch);
  EXPECT_EQ(of.peak_bits("GB", {of.hold("DRAM", {"X", "B"}), of.loop({"m"}, 1),
                                SmallMapping::sequential(
                                    {{of.loop({"i"}, 1), of.hold("GB", {"S"}), of.compute("S")},
                                     {of.hold("GB", {"Y"}), of.loop({"i"}, 1), of.compute("B")}})}),
            4 * 8);
}

/// S[i+1] = S[i] + X[i] and an Einsum that has nothing to do with it, B[i] = Y[i].
Workload state_and_other(std::int64_t steps, std::int64_t width, bool other_first) {
  SmallWorkload workload({{"i", steps}, {"m", width}});
  if (other_first) workload.einsum("B[J:i,m] = Y[J:i,m]");
  workload.einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]");
  if (!other_first) workload.einsum("B[J:i,m] = Y[J:i,m]");
  return workload.workload;
}

/// An Einsum that keeps something in GB for all of the rows it has, by itself.
NodeList all_rows(const SmallMapping& b, const char* einsum, const char* held) {
  return {b.hold("GB", {held}), b.loop({"i"}, 1), b.loop({"m"}, 1), b.compute(einsum)};
}

// I 3 in tiles of 2 and 1, M 3. Step 0: B holds 2 rows of Y, then S its slices 0, 1 and 2. Step 1:
// one row of Y, slices 2 and 3. S is there from the beginning of step 0 on, as large as it gets.
TEST(LastingStorage, IsThereBeforeItsFirstUser) {
  const Workload w = state_and_other(3, 3, true);
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits("GB", {b.hold("DRAM", {"X", "B"}), b.loop({"i"}, 2),
                         SmallMapping::sequential({all_rows(b, "B", "Y"), all_rows(b, "S", "S")})}),
      (3 * 3 + 2 * 3) * 8);
}

// The inner loop over i hands S on, and so does the outer one: slice 2 is made in its first step
// and read in its second one. S (2 slices of 3) stays while B has 2 rows of Y.
TEST(LastingStorage, LastsAsLongAsTheOutermostLoopThatHandsItOn) {
  const Workload w = state_and_other(4, 3, false);
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(b.peak_bits("GB", {b.hold("DRAM", {"X", "B"}), b.loop({"i"}, 2),
                               SmallMapping::sequential({{b.loop({"i"}, 1), b.hold("GB", {"S"}),
                                                          b.loop({"m"}, 1), b.compute("S")},
                                                         all_rows(b, "B", "Y")})}),
            (2 * 3 + 2 * 3) * 8);
}

// Each PE has two slices of one m. B runs in the first PE alone and has both values of Y in its RF.
TEST(LastingStorage, StaysInItsInstancesBehindASpatialLoop) {
  const Workload w = state_and_other(4, 2, false);
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  const auto peak = [&](bool is_spread) {
    NodeList other = {b.hold("RF", {"Y"}), b.loop({"m"}, 1), b.compute("B")};
    if (is_spread) other.insert(other.begin(), b.spread("m", 1));
    return b.peak_bits("RF",
                       {b.hold("DRAM", {"X", "B"}), b.loop({"i"}, 1),
                        SmallMapping::sequential(
                            {{b.spread("m", 1), b.hold("RF", {"S"}), b.compute("S")}, other})});
  };
  EXPECT_EQ(peak(false), (2 * 1 + 2) * 8);
  EXPECT_EQ(peak(true), (2 * 1 + 1) * 8);  // one value of Y in each
}

/// Three convolutions with three taps: C has 4 rows, B 6, A 8.
struct ThreeConvolutions : ::testing::Test {
  Workload w = SmallWorkload({{"p", 8}, {"q", 6}, {"t", 4}, {"r", 3}, {"s", 3}, {"u", 3}})
                   .einsum("A[p] = X[N:p+r] + U[r]")
                   .einsum("B[q] = A[p:q+s] + V[s]")
                   .einsum("C[t] = B[q:t+u] + W[u]")
                   .workload;
  Arch arch = small_machine();
  SmallMapping b{w, arch};

  /// All of them below one loop, whose tiles are those of C.
  double peak_with_tile(std::int64_t tile) const {
    return b.peak_bits(
        "GB",
        {b.hold("DRAM", {"X", "U", "V", "W", "C"}), b.loop({"p", "q", "t"}, tile),
         SmallMapping::sequential({child({"A"}, "p", "r", "A"), child({"A", "B"}, "q", "s", "B"),
                                   child({"B", "W"}, "t", "u", "C")})});
  }
  NodeList child(std::initializer_list<const char*> held, const char* rows, const char* taps,
                 const char* einsum) const {
    return {b.hold("GB", held), b.loop({rows}, 1), b.loop({taps}, 1), b.compute(einsum)};
  }
};

// Two rows of C a step.        C            B                    A
//   step 0              makes 0..1   makes 0..3, 4 held   makes 0..5, 6 held
//   step 1              makes 2..3   makes 4..5, 4 held   makes 6..7, 4 held (4..7)
// Rows 4 and 5 of A are still wanted in step 1, and survive C, which has its 3 weights in GB.
TEST_F(ThreeConvolutions, KeepTheRowsOfTheFirstDuringTheThird) {
  EXPECT_EQ(peak_with_tile(2), (6 + 4 + 3) * 8);
}

// One step: nothing is handed on. A (8 rows) and B (6) meet in B; in C there are B and W.
TEST_F(ThreeConvolutions, KeepNothingInALoopOfOneStep) {
  EXPECT_EQ(peak_with_tile(4), (8 + 6) * 8);
}

// Rows of 3 values, none of which two steps have in common: P and Q while Q runs, Q and Y while D
// runs.
TEST(LastingStorage, AnOrdinaryIntermediateIsThereForItsUsersAlone) {
  const Workload w = SmallWorkload({{"i", 4}, {"m", 3}})
                         .einsum("P[i,m] = X[i,m]")
                         .einsum("Q[i,m] = P[i,m]")
                         .einsum("D[i,m] = Q[i,m] + Y[i,m]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits("GB", {b.hold("DRAM", {"X", "D"}), b.loop({"i"}, 1),
                         SmallMapping::sequential(
                             {{b.hold("GB", {"P"}), b.loop({"m"}, 1), b.compute("P")},
                              {b.hold("GB", {"P", "Q"}), b.loop({"m"}, 1), b.compute("Q")},
                              {b.hold("GB", {"Q", "Y"}), b.loop({"m"}, 1), b.compute("D")}})}),
      (3 + 3) * 8);
}

// Slices i and i + 1 of an input could be brought again: 2·3 values while P runs, 3 of Y for Q.
TEST(LastingStorage, AnInputIsThereForItsUsersAlone) {
  const Workload w = SmallWorkload({{"i", 4}, {"m", 3}})
                         .einsum("P[J:i,m] = X[I:i,m] + X[I:i+1,m]")
                         .einsum("Q[J:i,m] = Y[J:i,m]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(b.peak_bits("GB", {b.hold("DRAM", {"P", "Q"}), b.loop({"i"}, 1),
                               SmallMapping::sequential(
                                   {{b.hold("GB", {"X"}), b.loop({"m"}, 1), b.compute("P")},
                                    {b.hold("GB", {"Y"}), b.loop({"m"}, 1), b.compute("Q")}})}),
            2 * 3 * 8);
}

// I 6 in tiles of 3; inside S takes them in tiles of 1 and 2: 2 slices of 3 values, then 3 slices.
// While B has 3 rows of Y, S has its first tile.
TEST(LastingStorage, HasItsFirstTileOfFurtherLoopsInOtherChildren) {
  const Workload w = state_and_other(6, 3, true);
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits(
          "GB", {b.hold("DRAM", {"X", "B"}), b.loop({"i"}, 3),
                 SmallMapping::sequential({all_rows(b, "B", "Y"),
                                           {b.loop({"i"}, 2, 1), b.hold("GB", {"S"}),
                                            b.loop({"i"}, 1), b.loop({"m"}, 1), b.compute("S")}})}),
      (2 * 3 + 3 * 3) * 8);
}

// Rows of M 4. i 3 in tiles of 2 and 1: S has 3 slices, then 2. The windows of Y are padding in the
// first step, so that T makes both of its rows in the second one, from 2 of V.
TEST(LastingStorage, IsSmallerInTheLastStep) {
  const Workload w = SmallWorkload({{"i", 3}, {"p", 2}, {"q", 4}, {"s", 2}, {"m", 4}})
                         .einsum("S[I:i+1,m] = S[I:i,m] + X[J:i,m]")
                         .einsum("T[p,m] = V[p,m]")
                         .einsum("Y[q,m] = T[p:q+s+-3,m]")
                         .workload;
  const Arch arch = small_machine();
  const SmallMapping b(w, arch);
  EXPECT_EQ(
      b.peak_bits("GB",
                  {b.hold("DRAM", {"X", "T", "Y"}), b.loop({"i", "p", "q"}, 2),
                   SmallMapping::sequential(
                       {all_rows(b, "S", "S"),
                        {b.hold("GB", {"V"}), b.loop({"p"}, 1), b.loop({"m"}, 1), b.compute("T")},
                        {b.loop({"q"}, 1), b.loop({"s"}, 1), b.loop({"m"}, 1), b.compute("Y")}})}),
      (2 * 4 + 2 * 4) * 8);
}

}  // namespace
}  // namespace sluice::testing
