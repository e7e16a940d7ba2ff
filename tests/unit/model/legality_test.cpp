#include <gtest/gtest.h>

#include "sluice/model/keep_rules.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

Arch three_levels() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1), container("PE", {dimension("x", 2)}),
                     memory("RF", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  return arch;
}

Workload square_product() {
  return WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 8)
      .einsum("C[m,n] = A[m,k] * B[k,n]")
      .workload;
}

struct Illegal : ::testing::Test {
  Workload w = square_product();
  Arch arch = three_levels();
  MappingBuilder b{w, arch};
  Node all = b.storage("DRAM", {"A", "B", "C"});
  Node mac = b.compute("C", "MAC");

  std::string why(NodeList nodes) { return why_illegal(w, arch, std::move(nodes)); }
  NodeList loops(NodeList above) {
    for (const char* v : {"m", "k", "n"}) above.push_back(b.temporal(v, 1));
    above.push_back(mac);
    return above;
  }
};

TEST_F(Illegal, ATensorWithoutStorage) {
  EXPECT_EQ(why(loops({b.storage("DRAM", {"A", "B"})})),
            "C has no backing storage above the compute of C.\n");
}

TEST_F(Illegal, ALoopThatIsMissing) {
  EXPECT_EQ(why({all, b.temporal("m", 1), b.temporal("k", 1), mac}),
            "The loops of the Einsum C leave a tile of 2 in n at the compute; it must be 1.\n");
}

TEST_F(Illegal, ATileLargerThanTheEnclosingOne) {
  EXPECT_EQ(why(loops({all, b.temporal("m", 2), b.temporal("m", 3)})),
            "A loop over m of the Einsum C has tiles of 3; the enclosing tile has 2.\n");
}

TEST_F(Illegal, MoreInstancesThanTheFanout) {
  EXPECT_EQ(why(loops({all, b.spatial("m", 2, "PE"), b.spatial("k", 4, "PE")})),
            "The Einsum C spreads over 4 instances in the dimension PE.x; there are 2.\n");
}

TEST_F(Illegal, ASpatialLoopAboveAnOuterMemory) {
  EXPECT_EQ(
      why(loops(
          {b.storage("DRAM", {"A", "B"}), b.spatial("m", 2, "PE"), b.storage("DRAM", {"C"})})),
      "The spatial loop over m of PE stands above the storage of C in DRAM; it must stand below "
      "the memories before it and above the others.\n");
}

TEST_F(Illegal, ASpatialLoopBelowAnInnerMemory) {
  EXPECT_EQ(
      why(loops({all, b.storage("RF", {"A"}), b.spatial("m", 2, "PE")})),
      "The spatial loop over m of PE stands below the storage of A in RF; it must stand below "
      "the memories before it and above the others.\n");
}

TEST_F(Illegal, ASpatialLoopOverWhatADimensionMustReuse) {
  arch.components[1].spatial[0].reuse = expression("A");
  EXPECT_EQ(why(loops({all, b.spatial("m", 2, "PE")})),
            "The dimension PE.x must reuse A, which the spatial loop over m indexes.\n");
}

TEST_F(Illegal, MemoriesOutOfOrder) {
  EXPECT_EQ(why(loops({b.storage("RF", {"A"}), all})),
            "A stands in DRAM below a memory that is further in (or the same); memories must come "
            "from the outermost inwards.\n");
}

TEST_F(Illegal, ALoopAboveABackingNodeThatDoesNotIndexIt) {
  EXPECT_EQ(
      why(loops({b.storage("DRAM", {"A", "B"}), b.temporal("k", 2), b.storage("DRAM", {"C"})})),
      "The loop over k stands above the backing storage of C in DRAM but does not index it "
      "directly.\n");
}

TEST_F(Illegal, AnEinsumTwice) {
  const NodeList once = loops({});
  EXPECT_EQ(why({all, b.sequential({once, once})}), "The Einsum C is computed twice.\n");
}

TEST_F(Illegal, AnEinsumMissing) {
  w = WorkloadBuilder({{"m", 4}}, 8).einsum("T[m] = S[m]").einsum("U[m] = T[m]").workload;
  EXPECT_EQ(why({b.storage("DRAM", {"S", "T"}), b.temporal("m", 1), b.compute("T", "MAC")}),
            "The mapping has no compute for the Einsum U.\n");
}

TEST_F(Illegal, AComputeThatDoesNotAcceptTheEinsum) {
  Component other = compute("SIMD", {{"compute", 1, 1, 1, 0}});
  other.enabled = expression("len(All) == 2");
  arch.components.push_back(other);
  NodeList nodes = loops({all});
  nodes.back() = b.compute("C", "SIMD");
  EXPECT_EQ(why(nodes), "SIMD does not accept the Einsum C; it can run on MAC.\n");
}

TEST_F(Illegal, NodesThatCannotBePricedYet) {
  Node shared = all;
  std::get<StorageNode>(shared.kind).shared_by = 2;
  EXPECT_EQ(why(loops({shared})),
            "The tile of A in DRAM that peers share: `over` must name a spatial dimension above "
            "DRAM, and is missing.\n"
            "The tile of B in DRAM that peers share: `over` must name a spatial dimension above "
            "DRAM, and is missing.\n"
            "The tile of C in DRAM that peers share: `over` must name a spatial dimension above "
            "DRAM, and is missing.\n");
}

TEST_F(Illegal, EveryMistakeIsReported) {
  EXPECT_EQ(why({b.storage("DRAM", {"A"}), b.temporal("m", 8), b.temporal("m", 1),
                 b.temporal("k", 1), mac}),
            "A loop over m of the Einsum C has tiles of 8; the enclosing tile has 4.\n"
            "The loops of the Einsum C leave a tile of 2 in n at the compute; it must be 1.\n"
            "B has no backing storage above the compute of C.\n"
            "C has no backing storage above the compute of C.\n");
}

struct IllegalSharing : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"n", 3}, {"k", 2}}, 8)
                   .einsum("T[m,n] = A[m,k] * B[k,n]")
                   .einsum("U[m,n] = T[m,n]")
                   .workload;
  Arch arch = three_levels();
  MappingBuilder b{w, arch};
  Node outside = b.storage("DRAM", {"A", "B", "U"});
  NodeList make = {b.temporal("n", 1), b.temporal("k", 1), b.compute("T", "MAC")};
  NodeList use = {b.temporal("n", 1), b.compute("U", "MAC")};
  std::string why(NodeList nodes) { return why_illegal(w, arch, std::move(nodes)); }
};

TEST_F(IllegalSharing, IsLegalWhereTheSharedLoopIndexesTheTensor) {
  EXPECT_EQ(why({outside, b.temporal("m", 1), b.storage("RF", {"T"}), b.sequential({make, use})}),
            "");
}

TEST_F(IllegalSharing, ReadBeforeMade) {
  EXPECT_EQ(why({outside, b.temporal("m", 1), b.storage("RF", {"T"}), b.sequential({use, make})}),
            "The Einsum U reads T before the Einsum T makes it.\n");
}

TEST_F(IllegalSharing, ALoopThatRepeatsTheConsumer) {
  make.insert(make.begin(), b.temporal("m", 1));
  use.insert(use.begin(), b.temporal("m", 1));
  EXPECT_EQ(why({outside, b.storage("RF", {"T"}), b.temporal("k", 1),
                 b.sequential({{make[0], make[1], make[3]}, use})}),
            "The loop over k repeats the Einsum U, which does not use it.\n");
}

TEST_F(IllegalSharing, DifferentBackingMemories) {
  make.insert(make.begin(), b.storage("RF", {"T"}));
  use.insert(use.begin(), b.storage("DRAM", {"T"}));
  EXPECT_EQ(why({outside, b.temporal("m", 1), b.sequential({make, use})}),
            "The Einsums T and U expect T in different backing memories, RF and DRAM.\n");
}

TEST_F(IllegalSharing, ABackingNodeBelowABranchsOwnLoop) {
  make.insert(make.begin(), {b.temporal("m", 1), b.storage("RF", {"T"})});
  use.insert(use.begin(), {b.storage("RF", {"T"}), b.temporal("m", 1)});
  EXPECT_EQ(
      why({outside, b.sequential({make, use})}),
      "The loop stands above the backing storage of T in the branch of the Einsum T only; the "
      "Einsum U uses the tensor outside the loop.\n");
}

// U's copy of T is fetched before the loop over m in which T is made; V keeps it from sinking.
TEST_F(IllegalSharing, ACopyAboveTheLoopThatMakesTheTensor) {
  w = WorkloadBuilder({{"m", 4}}, 8)
          .einsum("X[m] = A[m]")
          .einsum("T[m] = X[m]")
          .einsum("U[m] = X[m] * T[m]")
          .workload;
  Node copy = b.storage("RF", {"T"});
  std::get<StorageNode>(copy.kind).einsums = {EinsumId(2)};
  Node out = b.storage("RF", {"U"});
  const NodeList split = {
      b.temporal("m", 1), b.storage("RF", {"X"}),
      b.sequential({{b.compute("X", "MAC")}, {b.compute("T", "MAC")}, {b.compute("U", "MAC")}})};
  NodeList nodes = {b.storage("DRAM", {"A", "T"}), copy, out};
  nodes.insert(nodes.end(), split.begin(), split.end());
  EXPECT_EQ(why(nodes),
            "The Einsum U keeps T in RF above a loop that it shares with the Einsum T; what one of "
            "them makes in a step would not reach the other.\n");
  std::swap(nodes[1], nodes[2]);  // now the copy sinks below the loop
  EXPECT_EQ(why(nodes), "");
}

// S is summed over k in the same loop over k in which U reads it: step 0 would see part of the sum.
TEST_F(IllegalSharing, AReaderInTheLoopThatStillSumsUp) {
  w = WorkloadBuilder({{"m", 4}, {"k", 2}}, 8)
          .einsum("X[m,k] = A[m,k]")
          .einsum("S[m] = X[m,k]")
          .einsum("U[m,k] = X[m,k] * S[m]")
          .workload;
  const auto step = [&](const char* einsum) {
    return NodeList{b.temporal("m", 1), b.compute(einsum, "MAC")};
  };
  EXPECT_EQ(
      why({b.storage("DRAM", {"A", "U", "S"}), b.temporal("k", 1), b.storage("RF", {"X"}),
           b.sequential({step("X"), step("S"), step("U")})}),
      "The Einsum U needs all of S in each step of a loop that it shares with the Einsum S; the "
      "loop must walk the same rank of it in both.\n");
}

// Both walk m, but T's consumer walks it as another rank: step 0 would need rows not made yet.
TEST_F(IllegalSharing, ASharedLoopThatWalksAnotherRank) {
  w = WorkloadBuilder({{"m", 4}, {"n", 4}}, 8)
          .einsum("T[m,n] = A[m,n]")
          .einsum("U[n,m] = T[M:n,N:m]")
          .workload;
  EXPECT_EQ(
      why({b.storage("DRAM", {"A", "U", "T"}), b.temporal("m", 1),
           b.sequential({{b.temporal("n", 1), b.compute("T", "MAC")},
                         {b.temporal("n", 1), b.compute("U", "MAC")}})}),
      "The Einsum U needs all of T in each step of a loop that it shares with the Einsum T; the "
      "loop must walk the same rank of it in both.\n");
}

TEST(KeepRules, AreReportedApartFromLegality) {
  const Workload w = square_product();
  Arch arch = three_levels();
  std::get<Memory>(arch.components[2].kind).tensors.keep = expression("A");
  std::get<Memory>(arch.components[2].kind).tensors.may_keep = std::nullopt;
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}),
                          b.storage("RF", {"B"}),
                          b.temporal("m", 1),
                          b.temporal("k", 1),
                          b.temporal("n", 1),
                          b.compute("C", "MAC")};
  EXPECT_EQ(why_illegal(w, arch, nodes), "");
  EXPECT_EQ(messages(keep_violations(bound(w, arch), Mapping{nodes, {}})),
            "RF must keep A for the Einsum C, and the mapping does not.\n"
            "RF may not keep B for the Einsum C, and the mapping does.\n");
}

// RF backs A, and DRAM may, as it keeps A, too; not where it does not.
TEST(KeepRules, NameAMemoryThatBacksUnlessOneFurtherOutKeepsTheTensor) {
  const Workload w = square_product();
  Arch arch = three_levels();
  auto& outermost = std::get<Memory>(arch.components[0].kind).tensors;
  std::get<Memory>(arch.components[2].kind).tensors.back = expression("A");
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "B", "C"}),
                          b.storage("RF", {"A"}),
                          b.temporal("m", 1),
                          b.temporal("k", 1),
                          b.temporal("n", 1),
                          b.compute("C", "MAC")};
  outermost.keep = expression("A");
  outermost.may_keep = expression("All");
  EXPECT_EQ(messages(keep_violations(bound(w, arch), Mapping{nodes, {}})), "");
  outermost.keep = expression("B | C");
  EXPECT_EQ(messages(keep_violations(bound(w, arch), Mapping{nodes, {}})),
            "DRAM may not keep A for the Einsum C, and the mapping does.\n"
            "A must be backed by RF and is backed by DRAM.\n");
}

// RF stands further in than Buffer and is called as a tensor is: Buffer's rule means the tensor.
TEST(KeepRules, NameMemoriesFurtherOutAlone) {
  const Workload w = square_product();
  Arch arch = three_levels();
  arch.components[1] = memory("Buffer", "inf", "B", 1, 1);
  arch.components[2].name = "B";
  const BoundProblem problem = bound(w, arch);
  const std::vector<TensorMask> held(arch.components.size(), 0);
  const auto sets = keep_sets(problem, EinsumId(0), ComponentId(1), held);
  ASSERT_TRUE(sets.has_value());
  EXPECT_EQ(sets->must, TensorMask{1} << problem.einsums[0].local_tensor[1]);
}

// T stays in RF: it does not pass the toll.
TEST(KeepRules, OfATollConcernWhatIsBackedFurtherOut) {
  const Workload w =
      WorkloadBuilder({{"m", 4}}, 8).einsum("T[m] = A[m]").einsum("U[m] = T[m]").workload;
  Arch arch = three_levels();
  Component toll = arch.components[2];
  toll.name = "Link";
  Toll kind;
  kind.tensors.keep = expression("All");
  toll.kind = kind;
  toll.actions.resize(1);
  arch.components.insert(arch.components.begin() + 2, toll);
  const MappingBuilder b(w, arch);
  const NodeList nodes = {b.storage("DRAM", {"A", "U"}), b.storage("Link", {"A"}),
                          b.storage("RF", {"T"}),
                          b.sequential({{b.temporal("m", 1), b.compute("T", "MAC")},
                                        {b.temporal("m", 1), b.compute("U", "MAC")}})};
  EXPECT_EQ(why_illegal(w, arch, nodes), "");
  EXPECT_EQ(messages(keep_violations(bound(w, arch), Mapping{nodes, {}})),
            "Link must keep U for the Einsum U, and the mapping does not.\n");
}

}  // namespace
}  // namespace sluice::testing
