// A running maximum and a correction, as in online softmax:
//   R[i+1,m] = max(R[i,m], L[i,m])      D[i,m] = exp(R[i,m] − R[i+1,m])
// over I 4 steps (5 slices of R) and M 3.
#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

struct Recurrence : ::testing::Test {
  Workload w =
      WorkloadBuilder({{"i", 4}, {"m", 3}}, 8)
          .rank("S", 5)
          .einsum("R[S:i+1,m] = R[S:i,m] * L[J:i,m]", {OperationKind::kMax}, Reduction::kNone)
          .einsum("D[J:i,m] = R[S:i,m] * R[S:i+1,m]", {OperationKind::kSub, OperationKind::kExp},
                  Reduction::kNone)
          .workload;
  Arch arch;
  Recurrence() {
    arch.components = {memory("DRAM", "inf", "Nothing", 10, 1),
                       container("PE", {dimension("x", 4)}), memory("GB", "inf", "Nothing", 1, 1),
                       compute("MAC", {{"compute", 1, 1, 1, 0}})};
  }
  MappingBuilder b{w, arch};
  NodeList step(const char* einsum) { return {b.temporal("m", 1), b.compute(einsum, "MAC")}; }
};

// Both steps below the shared loop: two slices of 3 values are held. D reads two values of R a
// point.
TEST_F(Recurrence, SharesItsLoopAndTwoSlices) {
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"L", "D"}), b.temporal("i", 1),
                            b.storage("GB", {"R"}), b.sequential({step("R"), step("D")})});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 2 * 3 * 8);
  EXPECT_EQ(values(cost, w, arch, "GB", "read"), (Values{{"R", 12 + 2 * 12}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"R", 12}}));
}

TEST_F(Recurrence, MayKeepAllSlicesInstead) {
  NodeList make = step("R"), use = step("D");
  make.insert(make.begin(), b.temporal("i", 1));
  use.insert(use.begin(), b.temporal("i", 1));
  const Cost cost = priced(
      w, arch, {b.storage("DRAM", {"L", "D"}), b.storage("GB", {"R"}), b.sequential({make, use})});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 5 * 3 * 8);
}

// Below i and m the buffer holds two slices of one m; the next m throws away what the next i reads.
// With m outside i nothing is lost.
TEST_F(Recurrence, LosesASliceToALoopInsideTheSteps) {
  const NodeList make = {b.compute("R", "MAC")}, use = {b.compute("D", "MAC")};
  const Node outside = b.storage("DRAM", {"L", "D"}), state = b.storage("GB", {"R"});
  EXPECT_EQ(why_illegal(w, arch,
                        {outside, b.temporal("m", 1), b.temporal("i", 1), state,
                         b.sequential({make, use})}),
            "");
  const std::string lost =
      "The loop over m stands between the loop over i and the backing storage of R in GB; what two "
      "steps over i have in common would be lost.\n";
  EXPECT_EQ(why_illegal(w, arch,
                        {outside, b.temporal("i", 1), b.temporal("m", 1), state,
                         b.sequential({make, use})}),
            lost + lost);
}

TEST_F(Recurrence, CannotBeSpreadOverInstances) {
  EXPECT_EQ(why_illegal(w, arch,
                        {b.storage("DRAM", {"L", "D", "R"}), b.spatial("i", 1, "PE"),
                         b.sequential({step("R"), step("D")})}),
            "The loop over i carries R from step to step; it cannot be spatial.\n"
            "The Einsum D reads slices of R that other instances of a loop over i make, which it "
            "shares with the Einsum R.\n");
}

TEST_F(Recurrence, IsReadOnlyAfterItsStep) {
  EXPECT_EQ(why_illegal(w, arch,
                        {b.storage("DRAM", {"L", "D"}), b.temporal("i", 1), b.storage("GB", {"R"}),
                         b.sequential({step("D"), step("R")})}),
            "The Einsum D reads R before the Einsum R makes it.\n");
}

// B[i] = A[i], A[i+1] = B[i] + C[i]: B reads what A left in the step before.
TEST_F(Recurrence, ACycleOfTwoEinsumsNeedsACommonLoop) {
  w = WorkloadBuilder({{"i", 4}, {"m", 3}}, 8)
          .rank("S", 5)
          .einsum("B[J:i,m] = A[S:i,m]")
          .einsum("A[S:i+1,m] = B[J:i,m] * C[J:i,m]")
          .workload;
  const Node outside = b.storage("DRAM", {"A", "B", "C"});
  EXPECT_EQ(
      why_illegal(w, arch, {outside, b.temporal("i", 1), b.sequential({step("B"), step("A")})}),
      "");
  NodeList first = step("B"), second = step("A");
  first.insert(first.begin(), b.temporal("i", 1));
  second.insert(second.begin(), b.temporal("i", 1));
  EXPECT_EQ(why_illegal(w, arch, {outside, b.sequential({first, second})}),
            "The Einsum B reads A of the step before; it must stand with the Einsum A below one "
            "temporal loop with tiles of 1 over i.\n");
}

// A buffer of R above D's loop over i: the tiles of two steps have a slice in common, so the buffer
// does not sink below the loop. It fetches each of 5 slices of 3 values once (not 2 a step, 8 in
// all), unless it slides: then it holds two of them.
TEST_F(Recurrence, FetchesEachSliceOnceIntoABufferAboveTheLoop) {
  NodeList make = step("R"), use = step("D");
  make.insert(make.begin(), b.temporal("i", 1));
  for (const bool sliding : {false, true}) {
    Node buffer = b.storage("GB", {"R"});
    std::get<StorageNode>(buffer.kind).sliding = sliding;
    NodeList reader = {buffer, b.temporal("i", 1)};
    reader.insert(reader.end(), use.begin(), use.end());
    const Cost cost =
        priced(w, arch, {b.storage("DRAM", {"L", "D", "R"}), b.sequential({make, reader})});
    EXPECT_EQ(values(cost, w, arch, "GB", "write"), (Values{{"R", 15}}));
    EXPECT_EQ(peak_bits(cost, arch, "GB"), (sliding ? 2 : 5) * 3 * 8);
  }
}

/// R[i+1] = L[i], D[i] = R[i]: D reads in step i what R left in the step before.
Workload delay() {
  return WorkloadBuilder({{"i", 4}, {"m", 3}}, 8)
      .rank("S", 5)
      .einsum("R[S:i+1,m] = L[J:i,m]")
      .einsum("D[J:i,m] = R[S:i,m]")
      .workload;
}

TEST_F(Recurrence, HoldsTheSliceOfTheStepBeforeForALaterEinsum) {
  w = delay();
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"L", "D"}), b.temporal("i", 1),
                            b.storage("GB", {"R"}), b.sequential({step("R"), step("D")})});
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 2 * 3 * 8);
}

/// S and R run along by themselves; A and B read what they were.
Workload two_states() {
  return WorkloadBuilder({{"i", 4}, {"m", 3}}, 8)
      .rank("S", 5)
      .einsum("S[S:i+1,m] = S[S:i,m] * X[J:i,m]")
      .einsum("A[J:i,m] = S[S:i,m]")
      .einsum("R[S:i+1,m] = R[S:i,m] * V[J:i,m]")
      .einsum("B[J:i,m] = R[S:i,m]")
      .workload;
}

// Two slices of each state are there in every Einsum: S while R and B run, whose next step reads
// it; R while S and A run, which follow its last one.
TEST_F(Recurrence, KeepsEachStateThroughAllEinsumsOfAStep) {
  w = two_states();
  const NodeList fused = {b.storage("DRAM", {"X", "V", "A", "B"}), b.temporal("i", 1),
                          b.storage("GB", {"S", "R"}),
                          b.sequential({step("S"), step("A"), step("R"), step("B")})};
  EXPECT_EQ(peak_bits(priced(w, arch, fused), arch, "GB"), 2 * (2 * 3 * 8));
  arch.components[2] = memory("GB", std::to_string(2 * (2 * 3 * 8) - 1), "Nothing", 1, 1);
  EXPECT_NE(why_illegal(w, arch, fused), "");
}

// Under loops of their own they are not there at the same time.
TEST_F(Recurrence, KeepsAStateAsLongAsItsOwnLoopRuns) {
  w = two_states();
  const auto part = [&](const char* state, const char* reader) {
    return NodeList{b.temporal("i", 1), b.storage("GB", {state}),
                    b.sequential({step(state), step(reader)})};
  };
  EXPECT_EQ(peak_bits(priced(w, arch,
                             {b.storage("DRAM", {"X", "V", "A", "B"}),
                              b.sequential({part("S", "A"), part("R", "B")})}),
                      arch, "GB"),
            2 * 3 * 8);
}

// S stands in two branches, below loops over instances that the others do not have: its room there
// is taken while A runs as well.
TEST_F(Recurrence, KeepsAStateWhereItsNodeDoesNotStand) {
  w = WorkloadBuilder({{"i", 4}, {"m", 4}}, 8)
          .rank("S", 5)
          .einsum("A[J:i,m] = X[J:i,m]")
          .einsum("S[S:i+1,m] = S[S:i,m] * A[J:i,m]")
          .workload;
  const NodeList whole = {b.temporal("m", 1), b.compute("A", "MAC")};
  const NodeList spread = {b.spatial("m", 1, "PE"), b.storage("GB", {"S"}), b.compute("S", "MAC")};
  const NodeList tiles = {b.spatial("m", 1, "PE"), b.storage("GB", {"X"}), b.compute("A", "MAC")};
  const Node outside = b.storage("DRAM", {"X", "A"});
  EXPECT_EQ(peak_bits(priced(w, arch, {outside, b.temporal("i", 1), b.sequential({whole, spread})}),
                      arch, "GB"),
            2 * 8);
  EXPECT_EQ(peak_bits(priced(w, arch, {outside, b.temporal("i", 1), b.sequential({tiles, spread})}),
                      arch, "GB"),
            2 * 8 + 8);
}

TEST_F(Recurrence, SharesNoSpatialLoopWithTheStepBefore) {
  w = delay();
  EXPECT_EQ(why_illegal(w, arch,
                        {b.storage("DRAM", {"L", "D", "R"}), b.spatial("i", 1, "PE"),
                         b.sequential({step("R"), step("D")})}),
            "The Einsum D reads slices of R that other instances of a loop over i make, which it "
            "shares with the Einsum R.\n");
}

// GB would fetch from DRAM all that B reads, of which A makes the later slices only then.
TEST_F(Recurrence, HasNoPriceAboveItsStepsInANodeThatBothEinsumsShare) {
  w = WorkloadBuilder({{"i", 2}, {"m", 2}}, 8)
          .rank("S", 3)
          .einsum("B[J:i,m] = A[S:i,m]", {OperationKind::kExp}, Reduction::kNone)
          .einsum("A[S:i+1,m] = B[J:i,m] * C[J:i,m]")
          .workload;
  EXPECT_EQ(why_illegal(w, arch,
                        {b.storage("DRAM", {"A", "C"}), b.storage("GB", {"A"}), b.temporal("i", 1),
                         b.storage("GB", {"B"}), b.temporal("m", 1),
                         b.sequential({{b.compute("B", "MAC")}, {b.compute("A", "MAC")}})}),
            "The model cannot price the state A in GB above the loop over its steps, where another "
            "memory backs it and the Einsums A and B share the node, yet.\n");
}

TEST_F(Recurrence, SharesNoLoopWithLaterSteps) {
  w = WorkloadBuilder({{"i", 4}, {"m", 3}}, 8)
          .rank("S", 5)
          .einsum("R[S:i,m] = L[J:i,m]")
          .einsum("D[J:i,m] = R[S:i+1,m]")
          .workload;
  EXPECT_EQ(why_illegal(w, arch,
                        {b.storage("DRAM", {"L", "D", "R"}), b.temporal("i", 1),
                         b.sequential({step("R"), step("D")})}),
            "The Einsum D reads slices of R that later steps of a loop over i make, which it "
            "shares with the Einsum R.\n");
}

}  // namespace
}  // namespace sluice::testing
