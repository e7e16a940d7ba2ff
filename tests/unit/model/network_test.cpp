#include <gtest/gtest.h>

#include "model/network/network_packed.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

Component network(const std::string& name, Topology topology, double hop_energy_j,
                  double link_bandwidth) {
  Component component;
  component.name = name;
  Network kind;
  kind.topology = topology;
  kind.hop_energy_j = hop_energy_j;
  kind.link_bandwidth = link_bandwidth;
  component.kind = kind;
  return component;
}

/// DRAM, a mesh, 2 × 4 elements with a register file each.
Arch meshed(Topology topology = Topology::kMesh, const std::string& may_reuse = "All") {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 0, kUnbounded),
                     network("NoC", topology, 1, 4),
                     container("PE", {dimension("x", 2, may_reuse), dimension("y", 4, may_reuse)}),
                     memory("RF", "inf", "Nothing", 0, kUnbounded),
                     compute("MAC", {{"compute", 0, kUnbounded, 1, 0}})};
  return arch;
}

Workload product() {
  return WorkloadBuilder({{"m", 2}, {"k", 3}, {"n", 4}}, 8)
      .einsum("C[m,n] = A[m,k] * B[k,n]")
      .workload;
}

/// m over x, n over y; each element keeps its row of A, its column of B and its one value of C.
NodeList spread(const MappingBuilder& b) {
  return {
      b.storage("DRAM", {"A", "B", "C"}), b.spatial("m", 1, "PE", 0), b.spatial("n", 1, "PE", 1),
      b.storage("RF", {"C", "A", "B"}),   b.temporal("k", 1),         b.compute("C", "MAC")};
}

const NetworkRow& row(const Cost& cost, const Workload& w, const std::string& tensor) {
  for (const NetworkRow& found : cost.networks)
    if (w[found.tensor].name == tensor) return found;
  throw std::runtime_error("no row of " + tensor);
}

// A[m]: 3 values · 8 bits go to x = 0 and x = 1, each to its four y. Joined routes: x=0: 3 links
// along y; x=1: 1 along x and 3 along y. 24 · (3 + 4) = 168 bit-hops, 24 · 8 nodes = 192 bits.
// B[n]: to both x at each y. Along x first: 1 link, then at both x the y links: 1 + 2y; y = 0…3:
// 1 + 3 + 5 + 7 = 16; 24 · 16 = 384.
// C[m,n]: 8 bits from each element, x + y hops: Σ = 4·1 + 2·(0+1+2+3) = 16; 8 · 16 = 128.
TEST(NetworkTransfers, CountTheLinksOfJoinedRoutesOnAMesh) {
  const Workload w = product();
  const Arch arch = meshed();
  const Cost cost = priced(w, arch, spread(MappingBuilder(w, arch)));
  EXPECT_EQ(row(cost, w, "A").bit_hops, 168);
  EXPECT_EQ(row(cost, w, "A").volume_bits, 192);
  EXPECT_EQ(row(cost, w, "B").bit_hops, 384);
  EXPECT_EQ(row(cost, w, "C").bit_hops, 128);
  EXPECT_EQ(row(cost, w, "C").volume_bits, 64);
  EXPECT_EQ(cost.energy_j, 168 + 384 + 128);  // 1 J a bit and hop, all else is free
}

// The links out of node 0, downwards: along x: A of x=1 (24 bits), and B's four columns (96) = 120;
// along y: A of x=0 (24), B of y = 1, 2, 3 (72) = 96. Upwards along x: C of four elements, 32.
// 120 bits at 4 bit/s.
TEST(NetworkTransfers, TakeTheTimeOfTheMostLoadedLink) {
  const Workload w = product();
  const Arch arch = meshed();
  const Cost cost = priced(w, arch, spread(MappingBuilder(w, arch)));
  EXPECT_EQ(cost.latency_s, 30);
}

// Without multicast every element is sent its own copy: A and B 24 bits · Σ hops 16 each.
TEST(NetworkTransfers, AreSentToEachInstanceWhereADimensionMayNotReuse) {
  const Workload w = product();
  const Arch arch = meshed(Topology::kMesh, "Nothing");
  const Cost cost = priced(w, arch, spread(MappingBuilder(w, arch)));
  EXPECT_EQ(row(cost, w, "A").bit_hops, 24 * 16);
  EXPECT_EQ(row(cost, w, "B").bit_hops, 24 * 16);
}

// Three fills of A and of B (k stands above them): the longest route has 1 + 3 hops, so 12 of them
// one after another; C waits once. 2 s a hop: 12 · 2 + 12 · 2 + 4 · 2 = 56; links: as before, 30.
TEST(NetworkTransfers, WaitForTheRoutersOnceAStep) {
  const Workload w = product();
  Arch arch = meshed();
  std::get<Network>(arch.components[1].kind).router_latency_s = 2;
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A", "B", "C"}), b.spatial("m", 1, "PE", 0),
                            b.spatial("n", 1, "PE", 1), b.storage("RF", {"C"}), b.temporal("k", 1),
                            b.storage("RF", {"A", "B"}), b.compute("C", "MAC")});
  EXPECT_EQ(row(cost, w, "A").latency_hops, 12);
  EXPECT_EQ(row(cost, w, "C").latency_hops, 4);
  EXPECT_EQ(cost.latency_s, 30 + 56);
}

// t_enq 1 s for 8 bits (eq. 3 of COMET). Every receiver pays: A 2 rows · 24 bits · 4 nodes, B 4
// columns · 24 bits · 2 nodes, C 8 values · 8 bits: 448 bits, 56 s. Once a transfer: A 48, B 96, C
// 64 bits: 26 s. Links take 30 s as before; without any time of implicit traffic nothing remains.
// Energy and counts stay.
TEST(NetworkTransfers, WaitForEveryReceiverOrOnceOrNotAtAll) {
  const Workload w = product();
  const std::map<ImplicitTime, double> expected{{ImplicitTime::kReceivers, 30 + 56},
                                                {ImplicitTime::kOnce, 30 + 26},
                                                {ImplicitTime::kNone, 0}};
  for (const auto& [time, seconds] : expected) {
    Arch arch = meshed();
    Network& mesh = std::get<Network>(arch.components[1].kind);
    mesh.queue_latency_s = 1;
    mesh.channel_width_bits = 8;
    mesh.implicit_time = time;
    const BoundProblem problem = bound(w, arch);
    for (const LatencyPolicy policy :
         {LatencyPolicy::kOverlap, LatencyPolicy::kStaged, LatencyPolicy::kPipeline}) {
      const Mapping mapping{spread(MappingBuilder(w, arch))};
      const auto cost = evaluate(problem, mapping, policy);
      ASSERT_TRUE(cost);
      EXPECT_EQ(cost->latency_s, seconds) << policy.name();
      EXPECT_EQ(cost->energy_j, 168 + 384 + 128);
      EXPECT_EQ(row(*cost, w, "A").volume_bits, 192);
      EXPECT_EQ(row(*cost, w, "A").latency_hops, 4);
    }
  }
}

// m = 3 rows on two elements in two steps, the second of one row: A's 3 values leave DRAM once each
// and B's 3 values twice (each element needs them in both steps; the last step has one).
TEST(NetworkTransfers, PayOnceWhereLastTilesAreSmaller) {
  const Workload w = WorkloadBuilder({{"m", 3}, {"n", 4}}, 8).einsum("C[m,n] = A[m]").workload;
  Arch arch = meshed();
  Network& mesh = std::get<Network>(arch.components[1].kind);
  mesh.link_bandwidth = kUnbounded;
  mesh.queue_latency_s = 1;
  mesh.channel_width_bits = 8;
  mesh.implicit_time = ImplicitTime::kOnce;
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "C"}), b.spatial("m", 2, "PE", 0), b.spatial("n", 1, "PE", 1),
              b.storage("RF", {"C", "A"}), b.temporal("m", 1), b.compute("C", "MAC")});
  EXPECT_EQ(cost.latency_s, 3 + 12);  // A once for all four columns, C
}

// n has 3 columns on 4 elements in two steps of… 3 = 2 · 2 − 1: element y=1 has nothing to do in
// the second. C's bits: y=0 twice at 0 + m hops, y=1 once at 1 + m hops, m = 0, 1: 0+0+1+1+1+2 = 5.
TEST(NetworkTransfers, CountSmallerLastTilesAsWhatTheyAre) {
  const Workload w = WorkloadBuilder({{"m", 2}, {"n", 3}}, 8).einsum("C[m,n] = A[m,n]").workload;
  const Arch arch = meshed();
  const MappingBuilder b(w, arch);
  const Cost cost =
      priced(w, arch,
             {b.storage("DRAM", {"A", "C"}), b.temporal("n", 2), b.spatial("m", 1, "PE", 0),
              b.spatial("n", 1, "PE", 1), b.storage("RF", {"C"}), b.compute("C", "MAC")});
  EXPECT_EQ(row(cost, w, "C").bit_hops, 8 * 5);
  EXPECT_EQ(row(cost, w, "C").volume_bits, 8 * 6);
}

// Two levels: DRAM → clusters → elements. Each cluster's own mesh carries its tile to two elements
// (1 hop for one of them); the outer one brings two elements' values to cluster 1 in one hop.
TEST(NetworkTransfers, CrossEveryNetworkBetweenParentAndChild) {
  const Workload w = WorkloadBuilder({{"m", 4}}, 1).einsum("C[m] = A[m]").workload;
  Arch arch = meshed();
  arch.components = {memory("DRAM", "inf", "Nothing", 0, kUnbounded),
                     network("Outer", Topology::kMesh, 100, kUnbounded),
                     container("Cluster", {dimension("c", 2)}),
                     network("Inner", Topology::kMesh, 1, kUnbounded),
                     container("PE", {dimension("x", 2)}),
                     compute("MAC", {{"compute", 0, kUnbounded, 1, 0}})};
  const MappingBuilder b(w, arch);
  const Cost cost = priced(w, arch,
                           {b.storage("DRAM", {"A", "C"}), b.spatial("m", 2, "Cluster"),
                            b.spatial("m", 1, "PE"), b.compute("C", "MAC")});
  // A: 2 values · 1 hop outside, 2 clusters · 1 value · 1 hop inside; C the same way back.
  EXPECT_EQ(cost.energy_j, 2 * (2 * 100 + 2 * 1));
}

// A copy from DRAM into a buffer behind the mesh, whichever node stands first.
TEST(NetworkTransfers, CarryACopyWhateverTheOrderOfItsNodes) {
  const Workload w = WorkloadBuilder({{"m", 4}}, 8).copy("U[m] = T[m]").workload;
  const Arch arch = meshed();
  const MappingBuilder b(w, arch);
  for (const bool outer_first : {true, false}) {
    NodeList nodes{b.storage("DRAM", {"T"}), b.storage("RF", {"U"}), b.compute("U", "MAC")};
    if (!outer_first) std::swap(nodes[0], nodes[1]);
    EXPECT_EQ(row(priced(w, arch, nodes), w, "T").volume_bits, 32) << outer_first;
  }
}

Routes routes(Topology topology, std::vector<std::int64_t> fanouts, std::vector<RouteLoop> loops) {
  return routes_of({Network{.topology = topology}, fanouts, loops});
}

TEST(NetworkRoutes, GoTheShorterWayRoundARing) {
  // One value for each of 5 nodes: 0, 1, 2, 2, 1 hops. One value for all: 2 links each way.
  EXPECT_EQ(routes(Topology::kRing, {5}, {{0, 5, true}}).value_hops(), 6);
  EXPECT_EQ(routes(Topology::kRing, {5}, {{0, 5, false}}).value_hops(), 4);
  EXPECT_EQ(routes(Topology::kTorus, {5}, {{0, 5, true}}).longest_route, 2);
}

TEST(NetworkRoutes, OfATreeStartAtItsRoot) {
  // 4 leaves, two levels. One value a leaf: 2 hops each. One for all: 2 + 4 edges.
  EXPECT_EQ(routes(Topology::kTree, {4}, {{0, 4, true}}).value_hops(), 8);
  EXPECT_EQ(routes(Topology::kTree, {4}, {{0, 4, false}}).value_hops(), 6);
  EXPECT_EQ(routes(Topology::kTree, {4}, {{0, 4, true}}).entry_loads,
            (std::vector<std::int64_t>{2, 2}));
}

TEST(NetworkRoutes, OfABusTakeOneHop) {
  const Routes shared = routes(Topology::kBus, {2, 2}, {{0, 2, true}, {1, 2, false}});
  EXPECT_EQ(shared.value_hops(), 2);
  EXPECT_EQ(shared.deliveries, 4);
}

TEST(NetworkRoutes, OfADirectNetworkAreLinksOfTheirOwn) {
  const Routes all = routes(Topology::kAllToAll, {2, 4}, {{0, 2, true}, {1, 4, true}});
  EXPECT_EQ(all.value_hops(), 7);
  EXPECT_EQ(all.longest_route, 1);
  EXPECT_EQ(all.entry_loads, (std::vector<std::int64_t>{1}));
}

// Every topology: all groups together are the groups one by one.
TEST(NetworkRoutes, AddUpOverTheGroups) {
  const std::vector<std::int64_t> fanouts = {4, 6};
  const std::vector<RouteLoop> loops = {{0, 2, true}, {0, 2, false}, {1, 3, false}, {1, 2, true}};
  for (int t = 0; t < 6; ++t) {
    const auto topology = static_cast<Topology>(t);
    const Routes all = routes_of({Network{.topology = topology}, fanouts, loops});
    double hops = 0;
    std::int64_t deliveries = 0;
    std::vector<std::int64_t> loads;
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 2; ++j) {
        const Routes group =
            routes_of_group({Network{.topology = topology}, fanouts, loops}, {i, 0, 0, j});
        hops += group.value_hops();
        deliveries += group.deliveries;
        loads.resize(std::max(loads.size(), group.entry_loads.size()));
        for (std::size_t l = 0; l < group.entry_loads.size(); ++l) loads[l] += group.entry_loads[l];
      }
    EXPECT_EQ(hops, all.value_hops()) << t;
    EXPECT_EQ(deliveries, all.deliveries) << t;
    if (topology == Topology::kAllToAll)  // the busiest link stands for all
      loads = {*std::max_element(loads.begin(), loads.end())};
    EXPECT_EQ(loads, all.entry_loads) << t;
  }
}

// Values enter a mesh of 4 × 4 in the middle of the first column, between rows 1 and 2. To each
// node on its own: along x 0 + 1 + 2 + 3 in four rows, 24; along y |y − 1.5| = 1.5 + 0.5 + 0.5
// + 1.5 in four columns, 16. To all nodes of a row at once: 3 links between the rows, then at each
// of 4 columns |y − 1.5|: for the four rows 4 · 3 + 4 · 4 = 28. To the nodes of row 0 alone: 0 + 1
// + 2 + 3 and 4 · 1.5. The longest route, to node (3, 0), takes 3 links and, upwards, 2.
TEST(NetworkRoutes, StartInTheMiddleOfTheEdgeWhereTheNetworkSaysSo) {
  const Network network{.topology = Topology::kMesh, .entry = NetworkEntry::kEdge};
  EXPECT_EQ(routes_of({network, {4, 4}, {{0, 4, true}, {1, 4, true}}}).value_hops(), 24 + 16);
  EXPECT_EQ(routes_of({network, {4, 4}, {{0, 4, false}, {1, 4, true}}}).value_hops(), 28);
  EXPECT_EQ(routes_of({network, {4, 4}, {{0, 4, true}}}).value_hops(), 12);
  EXPECT_EQ(routes_of({network, {4, 4}, {{0, 4, true}}}).longest_route, 5);
  EXPECT_EQ(routes_of({network, {3, 3}, {{0, 3, true}}}).value_hops(),
            6);  // row 1 is in the middle
}

const Network kPacked{
    .topology = Topology::kMesh, .entry = NetworkEntry::kEdge, .layout = NodeLayout::kPacked};

// A mesh of 4 × 3, entered at row 1. Two rows of three instances follow each other: row 0 takes the
// first three and the first of the second row, row 1 the other two. The columns' values go to
// (0,0) and (3,0): 3 links along x, 1 up in either column, 5; (1,0) and (0,1): 1 + 1; (2,0) and
// (1,1): 2 + 1. Out of the entry: three values along x, one up.
TEST(NetworkRoutes, OfAPackedMeshFollowTheInstancesRowAfterRow) {
  const Routes packed = routes_of({kPacked, {4, 3}, {{1, 2, false}, {0, 3, true}}});
  EXPECT_EQ(packed.value_hops(), 5 + 2 + 3);
  EXPECT_EQ(packed.groups, 3);
  EXPECT_EQ(packed.deliveries, 6);
  EXPECT_EQ(packed.longest_route, 4);
  EXPECT_EQ(packed.entry_loads, (std::vector<std::int64_t>{3, 0, 0, 1}));
  EXPECT_EQ(routes_of_group({kPacked, {4, 3}, {{1, 2, false}, {0, 3, true}}}, {0, 1}).value_hops(),
            2);
}

// Full rows follow each other as they stand, whichever way they are counted.
TEST(NetworkRoutes, OfAPackedMeshWithFullRowsAreThoseOfAnyMesh) {
  Network aligned = kPacked;
  aligned.layout = NodeLayout::kAligned;
  for (const std::int64_t rows : {2, 3, 5, 6})
    for (const bool shared_rows : {false, true})
      for (const bool shared_columns : {false, true}) {
        const std::vector<RouteLoop> loops = {
            {1, rows, !shared_rows}, {0, 2, !shared_columns}, {0, 2, true}};
        const Routes expected = routes_of({aligned, {4, 6}, loops});
        const Routes found = packed_routes(kPacked, {4, 6}, loops, nullptr);
        EXPECT_EQ(found.value_hops(), expected.value_hops());
        EXPECT_EQ(found.deliveries, expected.deliveries);
        EXPECT_EQ(found.longest_route, expected.longest_route);
        EXPECT_EQ(found.entry_loads, expected.entry_loads);
      }
}

// As `spread`, but C bypasses RF, so each of the three steps of k sends up its 64 bits and the two
// later ones fetch them: 5 · 64 bits and 5 · 128 bit-hops. Where repeated values are free only the
// finished sums pay hops.
TEST(NetworkTransfers, MayPayHopsOnceForWhatStaysBehindTheNetwork) {
  const Workload w = product();
  Arch arch = meshed();
  const auto cost = [&] {
    const MappingBuilder b(w, arch);
    return priced(
        w, arch,
        {b.storage("DRAM", {"A", "B", "C"}), b.spatial("m", 1, "PE", 0), b.spatial("n", 1, "PE", 1),
         b.storage("RF", {"A"}), b.temporal("k", 1), b.compute("C", "MAC")});
  };
  EXPECT_EQ(row(cost(), w, "C").bit_hops, 5 * 128);
  std::get<Network>(arch.components[1].kind).repeated_values = RepeatedValues::kFree;
  EXPECT_EQ(row(cost(), w, "C").bit_hops, 128);
  EXPECT_EQ(row(cost(), w, "C").volume_bits, 5 * 64);
  EXPECT_EQ(row(cost(), w, "B").bit_hops, 384);  // every step of k has its own
}

}  // namespace
}  // namespace sluice::testing
