// Mappings with collectives or networks on which model and executor once differed (as in
// settled_differences_test.cpp).
#include "settled_differences.h"

namespace sluice::settled {
namespace {

/// DRAM, two GBs on a mesh, below each x × y elements on a tree, each with RF.
const std::string kClusters = R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: NetGB, topology: mesh, link_bandwidth: 1, hop_energy: 1}
  - !Memory {name: GB, size: inf, spatial: [{name: g, fanout: 2}], actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: NetPE, topology: tree, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: x, fanout: 3}, {name: y, fanout: 2}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)";

std::string two_products(const std::string& sizes) {
  return workload_of("\"T[m,n] = A[m,k] * B[k,n]\", \"U[m,l] = T[m,n] * V[n,l]\"", sizes);
}

/// Children that walk the rows of m themselves.
std::string in_rows(std::string children) {
  const std::string loop = "nodes: [";
  for (std::size_t at = 0; (at = children.find(loop, at)) != std::string::npos; at += loop.size())
    children.insert(at + loop.size(), "!Temporal {rank_variable: [m], tile_shape: 1}, ");
  return children;
}

double latency_hops(const Settled& found, const std::string& network) {
  double hops = 0;
  for (const NetworkRow& row : found.cost.networks)
    if (!row.implicit && found.loaded.problem.arch[row.component].name == network)
      hops += row.latency_hops;
  return hops;
}

// Seed 40,005,193: U's sums are completed behind W, which runs beside U: nothing is there yet.
TEST(SettledDifferences, CollectivesOfParallelChildrenFollowTheirMaker) {
  const auto with = [](const std::string& behind_u, const std::string& behind_w) {
    return Settled(workload_of("\"T[m,n] = A[m,k] * B[k,n]\", \"U[m,l] = T[m,n] * V[n,l]\", "
                               "\"W[m,n] = exp(T[m,n])\"",
                               "M: 1, N: 4, K: 1, L: 1"),
                   R"(
  - !Storage {tensors: [A, V, B, W], component: DRAM}
  - !Spatial {rank_variable: n, tile_shape: 2, component: GB, name: g}
  - !Storage {tensors: [T, U], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested
      nodes:
      - !Parallel
        nodes:
        - !Nested {nodes: [!Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
)" + behind_u + R"(
        - !Nested {nodes: [!Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: W, component: MAC}]}
)" + behind_w,
                   kClusters);
  };
  const std::string reduce =
      "        - !Collective {type: all_reduce, tensor: U, src: GB, over: [g], op: sum}\n";
  EXPECT_TRUE(with(reduce, "").legal);
  EXPECT_FALSE(with("", reduce).legal);
}

// Seed 50,065,999: U reads rows of its own in each instance of x; that it also walks (one step of)
// n over y must not hide it. Below the loop over m all instances make one row at a time.
TEST(SettledDifferences, InstancesOfTwoDimensionsReadNoSlicesOfTheirOwn) {
  const Settled found(two_products("M: 4, N: 1, K: 4, L: 1"), R"(
  - !Storage {tensors: [A, B, V, U], component: DRAM}
  - !Spatial {rank_variable: [k, m], tile_shape: 2, component: PE, name: x}
  - !Spatial {rank_variable: [k, n], tile_shape: 1, component: PE, name: y}
  - !Temporal {rank_variable: [m], tile_shape: 1}
  - !Storage {tensors: [T], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: T, component: MAC}]}
    - !Collective {type: all_reduce, tensor: T, src: RF, over: [x, y], op: sum}
    - !Nested {nodes: [!Compute {einsum: U, component: MAC}]}
)",
                      kClusters);
  EXPECT_FALSE(found.legal);
}

// Seed 50,024,248: a state whose sums are spread over g, above the loop over its steps, is whole
// before the next step reads it if a collective completes it in each of them.
TEST(SettledDifferences, AStateThatIsCompletedInEveryStepMayBeSpreadAboveThem) {
  const auto with = [](const std::string& collective) {
    return Settled(R"(
workload:
  rank_sizes: {I: 3, M: 1, K: 2}
  bits_per_value: {All: 8}
  initial: {S: 2}
  einsums:
  - {einsum: "S[i+1,m] = S[i,m] * A[i,k,m]", name: S}
)",
                   R"(
  - !Storage {tensors: [A], component: DRAM}
  - !Spatial {rank_variable: [k], tile_shape: 1, component: GB, name: g}
  - !Temporal {rank_variable: [i], tile_shape: 1}
  - !Storage {tensors: [S], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: S, component: MAC}]}
)" + collective,
                   kClusters);
  };
  EXPECT_TRUE(
      with("    - !Collective {type: all_reduce, tensor: S, src: GB, over: [g], op: sum}\n").legal);
  EXPECT_FALSE(with("").legal);
}

// Both instances of g make a part of every row of T, U reads row 0 in one and row 1 in the other.
// Below the loop over m both make (and reduce) row 0 first: instance 1 has no row 1 then.
TEST(SettledDifferences, InstancesThatSumSliceBySliceReadNoSlicesOfTheirOwn) {
  const auto with = [](const std::string& loop) {
    return Settled(two_products("M: 2, N: 1, K: 2, L: 1"), R"(
  - !Storage {tensors: [A, B, V, U], component: DRAM}
  - !Spatial {rank_variable: [k, m], tile_shape: 1, component: GB, name: g}
)" + loop + R"(
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Collective {type: all_reduce, tensor: T, src: GB, over: [g], op: sum}
    - !Nested {nodes: [!Compute {einsum: U, component: MAC}]}
)",
                   kClusters);
  };
  EXPECT_TRUE(with("").legal);
  EXPECT_FALSE(with("  - !Temporal {rank_variable: [m], tile_shape: 1}").legal);
}

// One value. Over g: halving and doubling, a message each way; between the elements (0, 1) of both
// GBs it goes down to node 0 and from node 0, 2 + 2 links: 8. Over y after that: one exchange
// between leaves 0 and 1 of the tree, 2 links. Groups work side by side, collectives do not.
TEST(SettledDifferences, CollectivesOfOneTensorFollowEachOther) {
  const Settled found(workload_of("\"MX[m] = max(S[m,n])\"", "M: 1, N: 4"), R"(
  - !Storage {tensors: [S], component: DRAM}
  - !Spatial {rank_variable: n, tile_shape: 2, component: GB, name: g}
  - !Spatial {rank_variable: n, tile_shape: 1, component: PE, name: y}
  - !Storage {tensors: [MX], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: MX, component: MAC}]}
    - !Collective {type: all_reduce, tensor: MX, src: RF, over: [g], op: max, algorithm: recursive_halving_doubling}
    - !Collective {type: all_reduce, tensor: MX, src: RF, over: [y], op: max, algorithm: recursive_doubling}
)",
                      kClusters);
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(latency_hops(found, "NetPE"), 8 + 2);
  EXPECT_EQ(latency_hops(found, "NetGB"), 2);
}

// k of 4 is spread over 2 instances of x, l of 6 over 3: the third has no part of T, and gets none.
TEST(SettledDifferences, OnlyParticipantsHaveACopy) {
  const auto with = [](const std::string& sizes) {
    return Settled(two_products(sizes), R"(
  - !Storage {tensors: [A, B, V, U], component: DRAM}
  - !Spatial {rank_variable: [k, l], tile_shape: 2, component: PE, name: x}
  - !Storage {tensors: [T], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: k, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Collective {type: all_reduce, tensor: T, src: RF, over: [x], op: sum}
    - !Nested {nodes: [!Temporal {rank_variable: l, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
)",
                   kClusters);
  };
  EXPECT_TRUE(with("M: 1, N: 1, K: 4, L: 4").legal);
  EXPECT_FALSE(with("M: 1, N: 1, K: 4, L: 6").legal);
}

// A gather over x in each of two instances of y: GB would get two halves from two groups.
TEST(SettledDifferences, GroupsDoNotGatherIntoOneMemory) {
  const auto with = [](const std::string& over) {
    return Settled(two_products("M: 4, N: 1, K: 1, L: 1"),
                   R"(
  - !Storage {tensors: [A, B, V, U], component: DRAM}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Spatial {rank_variable: m, tile_shape: 2, component: PE, name: x}
      - !Spatial {rank_variable: m, tile_shape: 1, component: PE, name: y}
      - !Storage {tensors: [T], component: RF}
      - !Compute {einsum: T, component: MAC}
    - !Collective {type: gather, tensor: T, src: RF, dst: GB, over: [)" +
                       over + R"(]}
    - !Nested
      nodes:
      - !Storage {tensors: [T], component: GB}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Compute {einsum: U, component: MAC}
)",
                   kClusters);
  };
  EXPECT_TRUE(with("x, y").legal);
  EXPECT_FALSE(with("x").legal);
}

// Instances take no steps: all have made T before any of them reads it, so the copies that maker
// and reader have in GB are written back and filled in time. 2 sums come to GB, go to DRAM, come
// back to GB, and are read.
TEST(SettledDifferences, CopiesAboveASpatialLoopAreUpToDate) {
  const Settled found(
      workload_of("\"T[m] = A[m] * B[m]\", \"U[z] = T[M:m] * V[m]\"", "M: 2", "0 <= z < 1"),
      R"(
  - !Storage {tensors: [A, B, T, V, U], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Spatial {rank_variable: m, tile_shape: 1, component: PE, name: x}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: U, component: MAC}]}
)",
      kClusters);
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.count("GB", "T", "write"), 2 + 2);
  EXPECT_EQ(found.count("GB", "T", "read"), 2 + 2);
  EXPECT_EQ(found.count("DRAM", "T", "read"), 2);
}

// The steps of the pipeline are those of the first loop over m; the second has one. T, between
// them, is there once for each of the 2 steps in flight: 2 · 2 values of 8 bits in GB.
TEST(SettledDifferences, ALoopOfOneStepIsNoStepOfAPipeline) {
  const Settled found(
      workload_of("\"T[m,n] = A[m,n] * B[n]\", \"U[m,n] = exp(T[m,n])\"", "M: 2, N: 2"),
      R"(
  - !Storage {tensors: [A, B, U], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Storage {tensors: [T], component: GB}
  - !Spatial {rank_variable: n, tile_shape: 1, component: PE, name: x}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Pipeline
    nodes:
    - !Nested {nodes: [!Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: U, component: MAC}]}
)",
      kClusters);
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.peak_bits("GB"), 2 * 2 * 8);
}

// What has no root, and instances that there are not: the ring of the executor must end.
TEST(SettledDifferences, ARootAndInstancesThatAreNotThere) {
  const auto with = [](const std::string& n, const std::string& root) {
    return Settled(workload_of("\"MX[m] = max(S[m,n])\"", "M: 1, N: " + n),
                   R"(
  - !Storage {tensors: [S], component: DRAM}
  - !Spatial {rank_variable: n, tile_shape: 1, component: PE, name: x}
  - !Storage {tensors: [MX], component: RF}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: MX, component: MAC}]}
    - !Collective {type: all_reduce, tensor: MX, src: RF, over: [x], op: max)" +
                       root + "}\n",
                   kClusters);
  };
  EXPECT_TRUE(with("3", "").legal);
  EXPECT_FALSE(with("3", ", root: {x: 0}").legal);
  EXPECT_FALSE(with("4", "").legal);
}

// What stands right behind the network keeps its tile of Y, 2 of the 4 sums, in both steps over r:
// they go up once, over one link each, and never come back down.
TEST(SettledDifferences, SumsThatAreStillBehindTheNetworkDoNotReturn) {
  const std::string arch = R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: Net, topology: bus, repeated_values: free, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)";
  const Settled found(workload_of("\"Y[p] = X[p,r] * W[r]\"", "P: 4, R: 2"), R"(
  - !Storage {tensors: [X, W, Y], component: DRAM}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Spatial {rank_variable: p, tile_shape: 2, component: PE, name: x}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [Y], component: RF}
  - !Compute {einsum: Y, component: MAC}
)",
                      arch);
  ASSERT_TRUE(found.legal);
  double bit_hops = 0;
  for (const NetworkRow& row : found.cost.networks)
    if (found.loaded.problem.workload[row.tensor].name == "Y") bit_hops += row.bit_hops;
  EXPECT_EQ(bit_hops, 4 * 8);
}

// Seeds 22,047,374 and 20,084,662. In a pipeline a collective works on the step of the child before
// it. Behind a child that knows nothing of its tensor nobody holds the step's tile for it any more
// (the executor looked for it in vain, the model priced it).
TEST(SettledDifferences, ACollectiveInAPipelineFollowsAChildThatUsesItsTensor) {
  const std::string t =
      "    - !Nested {nodes: [!Temporal {rank_variable: [n], tile_shape: 1}, "
      "!Compute {einsum: T, component: MAC}]}\n";
  const std::string u =
      "    - !Nested {nodes: [!Temporal {rank_variable: [n], tile_shape: 1}, "
      "!Compute {einsum: U, component: MAC}]}\n";
  const std::string w =
      "    - !Nested {nodes: [!Temporal {rank_variable: [n], tile_shape: 1}, "
      "!Compute {einsum: W, component: MAC}]}\n";
  const std::string sum =
      "    - !Collective {type: all_reduce, tensor: U, src: RF, over: [y], op: sum}\n";
  const auto with = [&](const std::string& children, int tile) {
    return Settled(workload_of("\"T[m,n] = A[m,k] * B[k,n]\", \"U[m,l] = T[m,n] * V[n,l]\", "
                               "\"W[m,n] = exp(T[m,n])\"",
                               "M: 2, N: 4, K: 1, L: 1"),
                   "  - !Storage {tensors: [A, B, V, W], component: DRAM}\n"
                   "  - !Temporal {rank_variable: [m], tile_shape: " +
                       std::to_string(tile) +
                       "}\n"
                       "  - !Spatial {rank_variable: [n], tile_shape: 2, component: PE, name: y}\n"
                       "  - !Storage {tensors: [T, U], component: RF}\n"
                       "  - !Pipeline\n    nodes:\n" +
                       (tile == 1 ? children : in_rows(children)),
                   kClusters);
  };
  EXPECT_FALSE(with(t + u + w + sum, 1).legal);
  EXPECT_TRUE(with(t + u + sum + w, 1).legal);
  // A pipeline of one step is a sequential split.
  EXPECT_TRUE(with(t + u + w + sum, 2).legal);
}

}  // namespace
}  // namespace sluice::settled
