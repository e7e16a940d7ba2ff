#include "sluice/mapping/normal_form.h"

#include <gtest/gtest.h>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

Arch one_lane_machine() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1), memory("GB", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  return arch;
}

struct NormalForm : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 8)
                   .einsum("C[m,n] = A[m,k] * B[k,n]")
                   .workload;
  Arch arch = one_lane_machine();
  MappingBuilder b{w, arch};
  Node a = b.storage("DRAM", {"A"}), weights = b.storage("DRAM", {"B"}),
       c = b.storage("DRAM", {"C"});
  Node mac = b.compute("C", "MAC");

  Mapping normal(NodeList nodes) { return normal_form(Mapping{std::move(nodes), {}}, w, arch); }
};

TEST_F(NormalForm, SplitsNodesThatNameSeveralTensors) {
  const Mapping mapping = normal({b.storage("DRAM", {"A", "B", "C"}), b.temporal("m", 1),
                                  b.temporal("k", 1), b.temporal("n", 1), mac});
  EXPECT_EQ(mapping.nodes, (NodeList{a, weights, c, b.temporal("m", 1), b.temporal("k", 1),
                                     b.temporal("n", 1), mac}));
}

// A is indexed by m and k, not by n.
TEST_F(NormalForm, SinksANodeBelowTheLoopsThatIndexIt) {
  const Node buffered = b.storage("GB", {"A"});
  const Mapping mapping = normal(
      {a, weights, c, buffered, b.temporal("m", 1), b.temporal("k", 1), b.temporal("n", 1), mac});
  EXPECT_EQ(mapping.nodes, (NodeList{a, weights, c, b.temporal("m", 1), b.temporal("k", 1),
                                     buffered, b.temporal("n", 1), mac}));
}

TEST_F(NormalForm, PassesALoopOfOneTrip) {
  const Node buffered = b.storage("GB", {"A"});
  const Mapping mapping = normal({a, weights, c, buffered, b.temporal("n", 2), b.temporal("m", 1),
                                  b.temporal("n", 1), b.temporal("k", 1), mac});
  EXPECT_EQ(mapping.nodes, (NodeList{a, weights, c, b.temporal("n", 2), b.temporal("m", 1),
                                     buffered, b.temporal("n", 1), b.temporal("k", 1), mac}));
}

// B would sink below k, but it keeps A above the loop: a whole A stays buffered. Were B moved, A
// would follow, and the mapping would mean something else.
TEST_F(NormalForm, LeavesANodeThatHoldsAnotherBack) {
  const NodeList nodes = {a,
                          weights,
                          c,
                          b.storage("GB", {"A"}),
                          b.storage("GB", {"B"}),
                          b.temporal("k", 1),
                          b.temporal("m", 1),
                          b.temporal("n", 1),
                          mac};
  EXPECT_EQ(normal(nodes).nodes, nodes);
  const Mapping mapping{nodes, {}};
  const auto cost = evaluate(bound(w, arch), mapping);
  EXPECT_EQ(peak_bits(*cost, arch, "GB"), (32 + 2) * 8);  // A whole, one row of B
}

TEST_F(NormalForm, IsIdempotentAndMeansTheSame) {
  const std::vector<NodeList> mappings = {
      {a, weights, c, b.storage("GB", {"C", "A"}), b.temporal("m", 2), b.storage("GB", {"B"}),
       b.temporal("k", 1), b.temporal("m", 1), b.temporal("n", 1), mac},
      {a, weights, c, b.storage("GB", {"B"}), b.temporal("n", 1), b.storage("GB", {"A", "C"}),
       b.temporal("m", 1), b.temporal("k", 1), mac}};
  for (const NodeList& nodes : mappings) {
    const Mapping once = normal(nodes);
    EXPECT_EQ(normal(once.nodes), once);
    EXPECT_EQ(priced(w, arch, nodes), priced(w, arch, once.nodes));
  }
}

}  // namespace

}  // namespace sluice::testing
