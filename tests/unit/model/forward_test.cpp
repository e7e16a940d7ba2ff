// Regions, forwarded tensors and resident nodes of pipelined splits by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

Component mesh(double link_bandwidth, double router_latency_s) {
  Network network;
  network.link_bandwidth = link_bandwidth;
  network.router_latency_s = router_latency_s;
  network.hop_energy_j = 1;
  Component component;
  component.name = "Mesh";
  component.kind = network;
  return component;
}

/// Four steps over m. T is made by two nodes of a row of four, two values of n each, and E reads it
/// on the other two.
struct Forward : ::testing::Test {
  Workload w = WorkloadBuilder({{"m", 4}, {"n", 4}}, 1)
                   .einsum("T[m,n] = A[m,n]")
                   .einsum("E[m,n] = T[m,n] * D[n]")
                   .workload;
  Arch arch;
  Forward() {
    arch.components = {memory("DRAM", "inf", "Nothing", 0, kUnbounded), mesh(4, 0.5),
                       container("Node", {dimension("gx", 4)}),
                       memory("GB", "inf", "Nothing", 1, kUnbounded),
                       compute("MAC", {{"compute", 0, 1, 1, 0, {}}})};
  }

  NodeList maker(const char* variable = "n") const {
    const MappingBuilder b(w, arch);
    return {b.spatial(variable, 2, "Node"), b.storage("GB", {"A", "T"}), b.temporal(variable, 1),
            b.compute("T", "MAC")};
  }
  NodeList reader() const {
    const MappingBuilder b(w, arch);
    Node resident = b.storage("GB", {"D"});
    std::get<StorageNode>(resident.kind).resident = true;
    return {b.spatial("n", 2, "Node"), resident, b.storage("GB", {"T", "E"}), b.temporal("n", 1),
            b.compute("E", "MAC")};
  }
  SplitNode split(std::vector<NodeList> children) const {
    SplitNode node;
    node.kind = SplitKind::kPipeline;
    node.over = "gx";
    node.shares.assign(children.size(), 2);
    node.children = std::move(children);
    node.forward = {{*find_tensor("T"), ComponentId(3)}};
    return node;
  }
  std::optional<TensorId> find_tensor(const std::string& name) const {
    for (std::size_t t = 0; t < w.tensors.size(); ++t)
      if (w.tensors[t].name == name) return TensorId(t);
    return std::nullopt;
  }
  NodeList nodes(const SplitNode& split) const {
    const MappingBuilder b(w, arch);
    Node all = b.storage("DRAM", {"A", "E"});
    auto& tensors = std::get<StorageNode>(all.kind).tensors;
    for (const char* other : {"D", "W"})
      if (const auto tensor = find_tensor(other)) tensors.push_back(*tensor);
    return {all, b.temporal("m", 1), Node{split}};
  }
  NodeList both() const { return nodes(split({maker(), reader()})); }
  NodeList without_regions() const {
    SplitNode together = split({maker(), reader()});
    together.over.reset();
    together.shares.clear();
    return nodes(together);
  }

  Cost cost(const NodeList& nodes, LatencyPolicy policy = LatencyPolicy::kOverlap) const {
    const auto result = evaluate(bound(w, arch), Mapping{nodes, {}}, policy);
    if (!result) throw std::runtime_error(messages(result.error()));
    const auto totals = evaluate_totals(bound(w, arch), Mapping{nodes, {}}, policy);
    EXPECT_TRUE(totals && totals->energy_j == result->energy_j &&
                totals->latency_s == result->latency_s);
    return *result;
  }
  std::string why(const NodeList& nodes) const { return why_illegal(w, arch, nodes); }
  std::string why_split(const SplitNode& split) const { return why(nodes(split)); }

  /// Volume, bit hops and latency hops of one tensor, of its forward or of what is implicit.
  std::vector<double> crossed(const Cost& cost, const std::string& tensor, bool implicit) const {
    for (const NetworkRow& row : cost.networks)
      if (row.tensor == find_tensor(tensor) && row.implicit == implicit)
        return {row.volume_bits, row.bit_hops, row.latency_hops};
    return {};
  }
};

using Numbers = std::vector<double>;

// A step: node 0 sends two values to node 2, node 1 two to node 3, two links each.
TEST_F(Forward, SendsEveryReaderItsTile) {
  const Cost result = cost(both());
  EXPECT_EQ(crossed(result, "T", false), (Numbers{4 * 4, 4 * 8, 4 * 2}));
  ASSERT_EQ(result.collectives.size(), 1U);
  EXPECT_EQ(result.collectives[0].type, "forward");
  EXPECT_EQ(result.collectives[0].algorithm, "direct");
  EXPECT_EQ(result.collectives[0].over, std::vector<std::string>{"gx"});
  // T: made 16 times, sent and received; D once per node, not once a step.
  EXPECT_EQ(values(result, w, arch, "GB", "read"),
            (Values{{"A", 16}, {"T", 16 + 16}, {"D", 16}, {"E", 16}}));
  EXPECT_EQ(values(result, w, arch, "GB", "write"),
            (Values{{"A", 16}, {"T", 16 + 16}, {"D", 4}, {"E", 16}}));
  EXPECT_EQ(values(result, w, arch, "DRAM", "read"), (Values{{"A", 16}, {"D", 4}}));
}

// Actions of 3 values: a maker makes 8 values and sends 8, a reader gets 8 and reads 8, 3 actions
// each. What is sent is rounded up by itself.
TEST_F(Forward, SendsInWholeActions) {
  std::get<Memory>(arch.components[3].kind).partial_actions = PartialActions::kWhole;
  for (Action& action : arch.components[3].actions) action.bits_per_action = 3;
  std::map<std::string, double> actions;
  for (const EnergyRow& row : cost(both()).energy)
    if (row.component == ComponentId(3) && row.tensor == find_tensor("T") && row.actions > 0)
      actions[w[row.einsum].name + " " + row.action] += row.actions;
  EXPECT_EQ(actions, (std::map<std::string, double>{
                         {"T read", 2 * 3}, {"T write", 2 * (3 + 3)}, {"E read", 2 * 3}}));
}

// Nodes of the first child are 0 and 1, of the second 2 and 3. E leaves value by value: 8 times.
TEST_F(Forward, RegionsAreCountedFromTheEntry) {
  const Cost result = cost(both());
  EXPECT_EQ(crossed(result, "A", true), (Numbers{16, 4 * 2 * 1, 4 * 1}));
  EXPECT_EQ(crossed(result, "D", true), (Numbers{4, 2 * 2 + 2 * 3, 3}));
  EXPECT_EQ(crossed(result, "E", true), (Numbers{16, 4 * (2 * 2 + 2 * 3), 8 * 3}));
  const Cost together = cost(without_regions());
  EXPECT_EQ(crossed(together, "D", true), (Numbers{4, 2, 1}));
}

// GB: A 2 and T 2; on the other nodes D 2, T twice 2 (two steps are in flight), E 1.
TEST_F(Forward, AnInstanceBelongsToOneChild) {
  EXPECT_EQ(peak_bits(cost(both()), arch, "GB"), 2 + 2 * 2 + 1);
  EXPECT_EQ(peak_bits(cost(without_regions()), arch, "GB"), 4 + 7);
}

// In a double-buffered memory A, T (of the maker) and E are there twice, T of the reader has two
// tiles anyway, and D stays.
TEST_F(Forward, ResidentNodesAreNotDoubled) {
  std::get<Memory>(arch.components[3].kind).buffering = Buffering::kDouble;
  EXPECT_EQ(peak_bits(cost(without_regions()), arch, "GB"), 2 * (2 + 2) + 2 + 4 + 2);
}

// On the same instance there is nothing to send.
TEST_F(Forward, NothingIsSentWithinAnInstance) {
  const Cost result = cost(without_regions());
  EXPECT_EQ(crossed(result, "T", false), Numbers{});
  EXPECT_EQ(result.collectives.at(0).latency_s, 0);
  EXPECT_EQ(values(result, w, arch, "GB", "write").at("T"), 16);
}

// T: MAC 8 s, and in each step 4 bits at 4 bit/s and two routers, 2 s: 16. E: MAC 8 s; on the mesh
// 16 bits at 4 bit/s, 27 routers: 17.5 s. The mesh serves both, T's A for 2 + 2 s: 21.5.
TEST_F(Forward, TakesTheLongestChildOrTheSharedNetwork) {
  EXPECT_EQ(cost(both()).latency_s, 21.5);
  arch.components[1] = mesh(kUnbounded, 0);
  EXPECT_EQ(cost(both()).latency_s, 8);  // each child has its own MACs
  EXPECT_EQ(cost(without_regions()).latency_s, 16);
}

// T 2 + 1 s a step, E 2: 12 in all. On the same instances 2 and 2, and the MACs are in conflict.
TEST_F(Forward, StagedAddsTheForwardToItsMaker) {
  arch.components[1] = mesh(4, 0);
  const auto parts = [](const Cost& cost) {
    std::map<std::string, double> result;
    for (const LatencyPart& part : cost.breakdown)
      if (part.seconds != 0) result[part.name] = part.seconds;
    return result;
  };
  const Cost result = cost(both(), LatencyPolicy::kStaged);
  EXPECT_EQ(result.latency_s, 12);
  EXPECT_EQ(parts(result), (std::map<std::string, double>{{"compute", 8}, {"collectives", 4}}));
  EXPECT_EQ(parts(cost(without_regions(), LatencyPolicy::kStaged)),
            (std::map<std::string, double>{{"compute", 8}, {"conflicts", 8}}));
}

// GB costs 1 J an action: 64 reads of A, D, E and T, 16 + 32 + 4 + 16 writes; hops 8 + 10 + 40
// + 32.
TEST_F(Forward, EnergyIsCountsTimesEnergy) {
  EXPECT_EQ(cost(both()).energy_j, (16 + 32 + 16 + 16) + (16 + 32 + 4 + 16) + 90);
}

// u on nodes 2 and 3 needs p 0 to 2 and 1 to 3; nodes 0 and 1 make 0 and 1, 2 and 3: messages of
// 2, 1, 1, 2 values over 2, 1, 3, 2 links.
TEST_F(Forward, RowsOfWindowsAreSentToEachReader) {
  w = WorkloadBuilder({{"m", 4}, {"p", 4}, {"u", 2}, {"r", 3}}, 1)
          .einsum("T[m,P:p] = A[m,p]")
          .einsum("E[m,u] = T[m,P:u+r] * W[r]")
          .workload;
  const MappingBuilder b(w, arch);
  const NodeList reads = {b.spatial("u", 1, "Node"), b.storage("GB", {"W"}),
                          b.storage("GB", {"T", "E"}), b.temporal("r", 1), b.compute("E", "MAC")};
  const Cost result = cost(nodes(split({maker("p"), reads})));
  EXPECT_EQ(crossed(result, "T", false), (Numbers{4 * 6, 4 * 12, 4 * 3}));
  EXPECT_EQ(peak_bits(result, arch, "GB"), 3 + 2 * 3 + 1);
}

TEST_F(Forward, ThreeChildrenHoldATileForEachStepInFlight) {
  w = WorkloadBuilder({{"m", 4}, {"n", 4}}, 1)
          .einsum("T[m,n] = A[m,n]")
          .einsum("U[m,n] = A[m,n]")
          .einsum("E[m,n] = T[m,n] * U[m,n]")
          .workload;
  const MappingBuilder b(w, arch);
  const NodeList other = {b.storage("GB", {"A", "U"}), b.temporal("n", 1), b.compute("U", "MAC")};
  const NodeList reads = {b.storage("GB", {"T", "U", "E"}), b.temporal("n", 1),
                          b.compute("E", "MAC")};
  SplitNode three = split({maker(), other, reads});
  three.shares = {2, 1, 1};
  three.forward.emplace_back(*find_tensor("U"), ComponentId(3));
  const Cost result = cost(nodes(three));
  // To node 3: T from nodes 0 and 1, U from node 2.
  EXPECT_EQ(crossed(result, "T", false), (Numbers{16, 4 * (2 * 3 + 2 * 2), 12}));
  EXPECT_EQ(crossed(result, "U", false), (Numbers{16, 16, 4}));
  EXPECT_EQ(peak_bits(result, arch, "GB"), 3 * 4 + 2 * 4 + 1);
}

TEST_F(Forward, SaysWhichSharesDoNotFit) {
  SplitNode wide = split({maker(), reader()});
  wide.shares = {2, 3};
  EXPECT_EQ(why_split(wide), "The shares of gx add up to 5 instances; there are 4.\n");
  wide.shares = {3, 1};
  EXPECT_EQ(
      why_split(wide),
      "The Einsum E spreads over 2 instances in the dimension Node.gx; the share of its child "
      "is 1.\n");
  wide.shares = {2};
  EXPECT_THAT(why_split(wide), HasSubstr("a share for each of its 2 children; this one has 1."));
  wide.shares = {2, 2};
  wide.over = "gz";
  EXPECT_THAT(why_split(wide), HasSubstr("the dimension gz, which is not on the way to MAC"));
}

TEST_F(Forward, NothingBelowTheContainerIsSharedByChildren) {
  const MappingBuilder b(w, arch);
  NodeList list = both();
  list.insert(list.begin() + 2, b.spatial("m", 1, "Node"));
  list[1] = b.temporal("m", 2);
  EXPECT_THAT(why(list), HasSubstr("The spatial loop over m stands above the split that shares out "
                                   "gx"));
  list = both();
  list.insert(list.begin() + 1, b.storage("GB", {"D"}));
  EXPECT_THAT(why(list), HasSubstr("The storage of D in GB stands above the split that shares out "
                                   "gx"));
}

TEST_F(Forward, SaysWhatCannotBeForwarded) {
  const MappingBuilder b(w, arch);
  NodeList list = both();
  list.insert(list.begin() + 2, b.storage("DRAM", {"T"}));
  EXPECT_THAT(why(list),
              HasSubstr("The forward of T to GB: a storage node above the split holds it "
                        "in DRAM"));
  SplitNode backwards = split({maker(), reader()});
  backwards.forward = {{*find_tensor("E"), ComponentId(3)}};
  EXPECT_THAT(why_split(backwards), HasSubstr("The forward of E to GB: no Einsum reads it"));
  backwards.forward = {{*find_tensor("A"), ComponentId(3)}};
  EXPECT_THAT(why_split(backwards), HasSubstr("The forward of A to GB: no Einsum makes it"));
  SplitNode alone = split({{b.sequential({maker(), reader()})}});
  EXPECT_THAT(why_split(alone), HasSubstr("the Einsum E reads it, but does not stand in a child "
                                          "after that of the Einsum T"));
  SplitNode parallel = split({maker(), reader()});
  parallel.kind = SplitKind::kParallel;
  EXPECT_THAT(why_split(parallel), HasSubstr("only a pipelined split forwards"));
}

TEST_F(Forward, EveryEndHoldsItInThatMemory) {
  const MappingBuilder b(w, arch);
  NodeList reads = reader();
  reads.insert(reads.begin(), b.storage("DRAM", {"T"}));
  EXPECT_THAT(why_split(split({maker(), reads})),
              HasSubstr("the child of the Einsum E holds it in DRAM"));
}

TEST_F(Forward, NeedsANetworkBetweenItsEnds) {
  arch.components.erase(arch.components.begin() + 1);
  SplitNode without = split({maker(), reader()});
  without.forward = {{*find_tensor("T"), ComponentId(2)}};
  EXPECT_EQ(why_split(without),
            "The forward of T to GB: its messages have no way: there is no !Network above Node.\n");
}

TEST_F(Forward, IsNamedWhereItIsMissing) {
  SplitNode without = split({maker(), reader()});
  without.forward.clear();
  EXPECT_THAT(why_split(without), HasSubstr("Missing in their pipelined split: forward: {T: GB}."));
}

TEST_F(Forward, SumsMustBeWhole) {
  w = WorkloadBuilder({{"m", 4}, {"n", 4}, {"k", 2}}, 1)
          .einsum("T[m,n] = A[m,n,k]")
          .einsum("E[m,n] = T[m,n] * D[n]")
          .workload;
  const MappingBuilder b(w, arch);
  const NodeList makes = {b.spatial("k", 1, "Node"), b.storage("GB", {"A", "T"}),
                          b.temporal("n", 1), b.compute("T", "MAC")};
  EXPECT_THAT(why_split(split({makes, reader()})),
              HasSubstr("the loop over k of the Einsum T spreads its sums over instances above its "
                        "node there; what is missing is a collective"));
}

TEST_F(Forward, TheSplitHasOneGrainForBoth) {
  const MappingBuilder b(w, arch);
  NodeList list = both();
  list[1] = b.temporal("m", 2);
  std::get<SplitNode>(list[2].kind)
      .children[0]
      .insert(std::get<SplitNode>(list[2].kind).children[0].begin() + 1, b.temporal("m", 1));
  EXPECT_THAT(why(list),
              HasSubstr("the loop over m of the Einsum T, which stands between the split "
                        "and its node"));
}

TEST_F(Forward, AResidentNodeIsTheSameInAllSteps) {
  NodeList makes = maker();
  std::get<StorageNode>(makes[1].kind).tensors = {*find_tensor("A")};
  std::get<StorageNode>(makes[1].kind).resident = true;
  const MappingBuilder b(w, arch);
  makes.insert(makes.begin() + 2, b.storage("GB", {"T"}));
  EXPECT_EQ(why_split(split({makes, reader()})),
            "A is resident in GB for the Einsum T, but the step loop over m indexes it: each step "
            "needs another tile.\n");
}

// Below one step nothing changes; nor does `resident` outside of pipelines.
TEST_F(Forward, WithoutStepsAResidentNodeIsAnyOther) {
  const MappingBuilder b(w, arch);
  NodeList list = both();
  list.erase(list.begin() + 1);
  SplitNode& all = std::get<SplitNode>(list[1].kind);
  for (NodeList& child : all.children) child.insert(child.end() - 1, b.temporal("m", 1));
  const Cost result = cost(list);
  EXPECT_EQ(crossed(result, "T", false), (Numbers{16, 32, 2}));
  EXPECT_EQ(values(result, w, arch, "GB", "write").at("D"), 4);
  EXPECT_EQ(peak_bits(result, arch, "GB"), 8 + 8);
}

}  // namespace
}  // namespace sluice::testing
