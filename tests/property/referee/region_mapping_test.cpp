// Regions, forwarded tensors and resident nodes of pipelined and parallel splits: the executor
// against hand arithmetic, and the model against the executor.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "support/folders.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

struct RegionAnswer {
  BoundProblem problem;
  cli::Evaluation cost;
  Execution run;

  explicit RegionAnswer(Specs specs) : problem(*bind(*specs.workload, *specs.arch)) {
    const Mapping& mapping = specs.mappings.front();
    cost = evaluate(problem, mapping);
    run = execute(problem.workload, problem.arch, mapping);
  }

  std::string complaint() const { return run.is_legal() ? "" : run.complaints.front().message; }
  std::string complaints() const {
    std::string all;
    for (const Complaint& complaint : run.complaints) all += complaint.message + "\n";
    return all;
  }
  std::vector<std::string> differences() const { return cli::disagreements(problem, cost, run); }
  std::int64_t count(const std::string& einsum, const std::string& memory,
                     const std::string& tensor, const std::string& action) const {
    std::int64_t count = 0;
    for (const CountRow& row : run.counts)
      if (problem.workload[row.einsum].name == einsum &&
          problem.arch[row.component].name == memory && row.tensor &&
          problem.workload[*row.tensor].name == tensor && row.action == action)
        count += row.count;
    return count;
  }
  /// Of a tensor's values: between memories, or forwarded.
  NetworkCount network(const std::string& tensor, bool is_forwarded) const {
    for (const NetworkCount& row : run.networks)
      if (problem.workload[row.tensor].name == tensor && row.implicit != is_forwarded) return row;
    return {};
  }
  double peak_bits(const std::string& memory) const {
    for (const PeakOccupancy& row : run.occupancy)
      if (problem.arch[row.component].name == memory) return row.peak_bits;
    return -1;
  }
};

RegionAnswer answer_for_regions(const std::string& text) {
  auto specs = load_specs_from_text({{"regions.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  return RegionAnswer(std::move(*specs));
}

void expect_network(const NetworkCount& row, double bits, double bit_hops, double latency_hops) {
  EXPECT_EQ(row.volume_bits, bits);
  EXPECT_EQ(row.bit_hops, bit_hops);
  EXPECT_EQ(row.latency_hops, latency_hops);
}

// Two layers on two nodes each, four batches one after the other; values of 16 bits.
TEST(RegionMapping, TheForwardedLayersByHand) {
  const auto file = testing::repository_dir() / "tests/golden/examples/6_forwarded_layers.yaml";
  const RegionAnswer answer(std::move(*load_specs({file.string()}, {})));
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.run.numbers.differing, 0);
  EXPECT_EQ(answer.run.numbers.exact, 4 * 4 * 6 * 6 + 4 * 4 * 4 * 4);
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  // A batch: nodes 0 and 1 have made 2 of the 4 channels each, nodes 2 and 3 want 4 of the 6 rows
  // each: four messages of 2 channels x 4 rows x 6 values over 2, 3, 1 and 2 links, the longest 3.
  const double message = 2 * 4 * 6;
  expect_network(answer.network("Y", true), 4 * 4 * message * 16,
                 4 * (2 + 3 + 1 + 2) * message * 16, 4 * 3);
  // One read and one write of each beside those of the sums: 2 x 3 x 3 points a value, the first of
  // which reads nothing.
  const std::int64_t values = 4 * 4 * 6 * 6, points = values * 2 * 3 * 3;
  EXPECT_EQ(answer.count("Y", "GBUF", "Y", "read"), points - values + 4 * 4 * 48);
  EXPECT_EQ(answer.count("Y", "GBUF", "Y", "write"), points + 4 * 4 * 48);
  // Weights come once. W1: 2 of 4 channels to node 0 and to node 1. W2: all to nodes 2 and 3, over
  // the three links to node 3.
  EXPECT_EQ(answer.count("Y", "DRAM", "W1", "read"), 4 * 2 * 3 * 3);
  EXPECT_EQ(answer.count("Y", "GBUF", "W1", "write"), 4 * 2 * 3 * 3);
  EXPECT_EQ(answer.count("Z", "DRAM", "W2", "read"), 4 * 4 * 3 * 3);
  EXPECT_EQ(answer.count("Z", "GBUF", "W2", "write"), 2 * 4 * 4 * 3 * 3);
  expect_network(answer.network("W1", false), 72 * 16, (0 + 1) * 36 * 16, 1);
  expect_network(answer.network("W2", false), 2 * 144 * 16, 3 * 144 * 16, 3);
  // X, every batch: the same 2 x 8 x 8 values to nodes 0 and 1.
  expect_network(answer.network("X", false), 2 * 4 * 128 * 16, 4 * 128 * 16, 4);
  // Z: a value at a time from nodes 2 and 3 at once.
  expect_network(answer.network("Z", false), 256 * 16, (2 + 3) * 128 * 16, 3 * 128);
  // Node 2: W2, the 4 x 4 x 6 values of Y that it works on and those that arrive, one value of Z.
  // Node 0 has less: W1 36, X 128, Y 2 x 6 x 6.
  EXPECT_EQ(answer.peak_bits("GBUF"), 16 * (4 * 4 * 3 * 3 + 2 * 96 + 1));
}

/// Rows of T on element 0, of U on elements 1 and 2, of Z on element 3 of a mesh.
std::string chain_over_regions(
    const std::string& split, const std::string& above = "",
    const std::string& buffering = "single",
    const std::string& network =
        "  - !Network {name: Net, topology: mesh, link_bandwidth: 1, hop_energy: "
        "1}\n") {
  return R"yaml(
workload:
  rank_sizes: {M: 4, N: 4}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,n] * B[n]", "U[m,n] = exp(T[m,n])", "Z[m,n] = T[m,n] * U[m,n]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
)yaml" + network +
         R"yaml(  - !Container {name: PE, spatial: [{name: x, fanout: 4}, {name: y, fanout: 2}]}
  - !Memory {name: RF, size: inf, buffering: )yaml" +
         buffering +
         R"yaml(, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: DRAM}
)yaml" + above +
         R"yaml(  - !Temporal {rank_variable: m, tile_shape: 1}
  - )yaml" +
         split +
         R"yaml(
    nodes:
    - !Nested
      nodes:
      - !Storage {tensors: [B], component: RF, resident: true}
      - !Storage {tensors: [T], component: RF}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Spatial {rank_variable: n, tile_shape: 2, component: PE, name: x}
      - !Storage {tensors: [T, U], component: RF}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Compute {einsum: U, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [T, U], component: RF}
      - !Temporal {rank_variable: n, tile_shape: 1}
      - !Compute {einsum: Z, component: MAC}
)yaml";
}

const std::string kForward = "\n    forward: {T: RF, U: RF}";

TEST(RegionMapping, EveryReaderGetsItsOwnTile) {
  const RegionAnswer answer = answer_for_regions(
      chain_over_regions("!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward));
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  EXPECT_EQ(answer.run.numbers.exact, 3 * 16);
  // Each of 4 rows of T: 2 values to element 1, 2 to element 2 and 4 to element 3.
  expect_network(answer.network("T", true), 4 * 8 * 8, 4 * 8 * (2 * 1 + 2 * 2 + 4 * 3), 4 * 3);
  // Of U: 2 values each from elements 1 and 2 to element 3.
  expect_network(answer.network("U", true), 4 * 4 * 8, 4 * 8 * (2 * 2 + 2 * 1), 4 * 2);
  // Made and read 16 times each by U and Z; forwarded 4 x 8.
  EXPECT_EQ(answer.count("T", "RF", "T", "write"), 16 + 32);
  EXPECT_EQ(answer.count("T", "RF", "T", "read"), 32);
  EXPECT_EQ(answer.count("U", "RF", "T", "read"), 16);
  // B comes once, over no link: element 0.
  EXPECT_EQ(answer.count("T", "DRAM", "B", "read"), 4);
  expect_network(answer.network("B", false), 4 * 8, 0, 0);
  // Z goes back from element 3.
  expect_network(answer.network("Z", false), 16 * 8, 16 * 8 * 3, 16 * 3);
  // Element 3: three rows of T, for it is two children further on, and two of U. (Elements 1 and 2:
  // 2 x 2 of T and 2 of U; element 0: B and a row of T.)
  EXPECT_EQ(answer.peak_bits("RF"), 8 * (3 * 4 + 2 * 4));
}

TEST(RegionMapping, StepsInFlightAreNotDoubledAgain) {
  const RegionAnswer answer = answer_for_regions(
      chain_over_regions("!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward, "", "double"));
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  EXPECT_EQ(answer.peak_bits("RF"), 8 * (3 * 4 + 2 * 4));
}

TEST(RegionMapping, WithoutRegionsAllMeetInTheFirstElements) {
  const RegionAnswer answer = answer_for_regions(chain_over_regions("!Pipeline" + kForward));
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  // Elements 0 and 1 work for the second child: half a row of T to element 1, half a row of U back.
  expect_network(answer.network("T", true), 4 * 2 * 8, 4 * 2 * 8, 4);
  expect_network(answer.network("U", true), 4 * 2 * 8, 4 * 2 * 8, 4);
  // Element 0: B and a row of T; 2 x 2 values of T and 2 of U; three rows of T and two of U.
  EXPECT_EQ(answer.peak_bits("RF"), 8 * ((4 + 4) + (2 * 2 + 2) + (3 * 4 + 2 * 4)));
}

TEST(RegionMapping, InstancesAboveTheSplitForwardWithinThemselves) {
  const std::string text = chain_over_regions(
      "!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward,
      "  - !Spatial {rank_variable: m, tile_shape: 2, component: PE, name: y}\n");
  const RegionAnswer answer = answer_for_regions(text);
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  // As many values over as many links, in half as many steps.
  expect_network(answer.network("T", true), 4 * 8 * 8, 4 * 8 * (2 * 1 + 2 * 2 + 4 * 3), 2 * 3);
}

// Elements 3 and 4 of 8 on a tree are the ends of its two halves: 3 links up and 3 down.
TEST(RegionMapping, CollectivesStandWhereTheirRegionIs) {
  const RegionAnswer answer = answer_for_regions(R"yaml(
workload:
  rank_sizes: {M: 2, K: 2, L: 3}
  bits_per_value: {All: 8}
  einsums: ["Q[l] = exp(P[l])", "T[m] = A[m,k] * B[k]", "U[m] = exp(T[m])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: Net, topology: tree, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: x, fanout: 8}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [P, Q, A, B, U], component: DRAM}
  - !Parallel
    over: x
    shares: [3, 2]
    nodes:
    - !Nested {nodes: [!Spatial {rank_variable: l, tile_shape: 1, component: PE, name: x}, !Compute {einsum: Q, component: MAC}]}
    - !Nested
      nodes:
      - !Sequential
        nodes:
        - !Nested {nodes: [!Spatial {rank_variable: k, tile_shape: 1, component: PE, name: x}, !Storage {tensors: [T], component: RF}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
        - !Collective {type: all_reduce, tensor: T, op: sum, src: RF, over: [x], algorithm: recursive_doubling}
        - !Nested {nodes: [!Storage {tensors: [T], component: RF}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: U, component: MAC}]}
)yaml");
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  // Both send their 2 values.
  expect_network(answer.network("T", true), 2 * 2 * 8, 2 * 2 * 8 * 6, 6);
}

struct Mistake {
  std::string split, above;
  const char* complaint;
};

TEST(RegionMapping, WhatIsWrongIsNamed) {
  const std::string regions = "!Pipeline\n    over: x\n    shares: ";
  const std::vector<Mistake> mistakes = {
      {regions + "[1, 2, 2]" + kForward, "", "The shares of x are 5 instances; PE has 4"},
      {regions + "[1, 1, 1]" + kForward, "",
       "more than the 1 instances of PE.x that are the share"},
      {regions + "[1, 2, 1]" + kForward,
       "  - !Spatial {rank_variable: m, tile_shape: 2, component: PE, name: x}\n",
       "The spatial loop over m stands above the split that shares out x"},
      {regions + "[1, 2, 1]" + kForward, "  - !Storage {tensors: [A], component: RF}\n",
       "The storage of A in RF stands above the split that shares out x"},
      {regions + "[1, 2, 1]\n    forward: {T: RF}", "",
       "The Einsum Z reads U[0, 0] before anybody has made it"},
      {regions + "[1, 2, 1]\n    forward: {T: RF, U: RF, A: RF}", "",
       "A is forwarded, and no child of the split makes it"},
      {regions + "[1, 2, 1]\n    forward: {T: RF, U: RF, Z: DRAM}", "",
       "Z is forwarded, and nobody reads it"},
      {regions + "[1, 2, 1]\n    forward: {T: RF, U: DRAM}", "",
       "U is forwarded through DRAM, and that is not where the Einsum U has it first"},
      {regions + "[1, 2, 1]" + kForward, "  - !Storage {tensors: [T], component: DRAM}\n",
       "T is forwarded, and DRAM holds it above the split"},
  };
  for (const Mistake& mistake : mistakes) {
    const RegionAnswer answer =
        answer_for_regions(chain_over_regions(mistake.split, mistake.above));
    EXPECT_FALSE(answer.run.is_legal());
    EXPECT_THAT(answer.complaints(), HasSubstr(mistake.complaint));
    EXPECT_EQ(answer.differences(), std::vector<std::string>{}) << mistake.complaint;
  }
}

// V, made and read behind the split, is held in RF above it: no child uses it.
TEST(RegionMapping, WhatNoChildUsesMayBeHeldAbove) {
  const RegionAnswer answer = answer_for_regions(R"yaml(
workload:
  rank_sizes: {M: 2}
  bits_per_value: {All: 8}
  einsums: ["T[m] = exp(A[m])", "U[m] = exp(T[m])", "V[m] = exp(U[m])", "Z[m] = exp(V[m])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, T, U, Z], component: DRAM}
  - !Storage {tensors: [V], component: RF}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Pipeline
        over: x
        shares: [1, 1]
        nodes:
        - !Nested
          nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]
        - !Nested
          nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: U, component: MAC}]
    - !Nested
      nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: V, component: MAC}]
    - !Nested
      nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Z, component: MAC}]
)yaml");
  ASSERT_EQ(answer.complaint(), "");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
  // Both values of V stay in the one RF that works.
  EXPECT_EQ(answer.peak_bits("RF"), 2 * 8);
}

TEST(RegionMapping, ForwardingNeedsANetwork) {
  const RegionAnswer answer = answer_for_regions(chain_over_regions(
      "!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward, "", "single", ""));
  EXPECT_THAT(answer.complaint(), HasSubstr("there is no network above it"));
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
}

TEST(RegionMapping, ReadersComeAfterTheMaker) {
  std::string text = chain_over_regions("!Pipeline" + kForward);
  const auto swap = [&](const std::string& a, const std::string& b) {
    text.replace(text.find(a), a.size(), b);
  };
  swap("!Compute {einsum: T, component", "!Compute {einsum: ?, component");
  swap("!Compute {einsum: Z, component", "!Compute {einsum: T, component");
  swap("!Compute {einsum: ?, component", "!Compute {einsum: Z, component");
  const RegionAnswer answer = answer_for_regions(text);
  EXPECT_FALSE(answer.run.is_legal());
  EXPECT_THAT(answer.complaints(), HasSubstr("does not read it in a later child"));
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
}

TEST(RegionMapping, AResidentTileDoesNotMove) {
  std::string text = chain_over_regions("!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward);
  const std::string resident = "tensors: [B], component: RF, resident: true";
  text.replace(text.find(resident), resident.size(), "tensors: [A], component: RF, resident: true");
  const RegionAnswer answer = answer_for_regions(text);
  EXPECT_EQ(answer.complaint(), "A is resident in RF, but the step loop over m indexes it.");
  EXPECT_EQ(answer.differences(), std::vector<std::string>{});
}

TEST(RegionMapping, AResidentTileIsFilledOnceAVisit) {
  const std::string loop = "  - !Temporal {rank_variable: m, tile_shape: 1}\n";
  std::string text = chain_over_regions("!Pipeline\n    over: x\n    shares: [1, 2, 1]" + kForward,
                                        "  - !Temporal {rank_variable: m, tile_shape: 2}\n");
  const RegionAnswer one = answer_for_regions(text);
  ASSERT_EQ(one.complaint(), "");
  // Both loops over m are steps of one visit.
  EXPECT_EQ(one.count("T", "DRAM", "B", "read"), 4);
  // A node in between ends them: two visits.
  text.insert(text.find(loop), "  - !Storage {tensors: [Z], component: DRAM}\n");
  text.replace(text.find("[A, B, Z]"), 9, "[A, B]");
  const RegionAnswer two = answer_for_regions(text);
  ASSERT_EQ(two.complaint(), "");
  EXPECT_EQ(two.differences(), std::vector<std::string>{});
  EXPECT_EQ(two.count("T", "DRAM", "B", "read"), 2 * 4);
}

// Seed 31,014,002. The two nodes of T are one storage, at the head of both children: the step loop
// moves it, wherever it was written.
TEST(RegionMapping, ABackingNodeIsNotResident) {
  const auto with = [](const std::string& mark) {
    return answer_for_regions(
        R"yaml(
workload: {rank_sizes: {N: 2, M: 3}, bits_per_value: {All: 8}, einsums: ["T[n,m] = X[n,m] * W[m]", "Y[n,m] = exp(T[n,m])"]}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [X, W, Y], component: DRAM}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Pipeline
    nodes:
    - !Nested {nodes: [!Storage {tensors: [T], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: T, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [T], component: GB)yaml" +
        mark +
        R"yaml(}, !Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Y, component: MAC}]}
)yaml");
  };
  EXPECT_EQ(with("").complaint(), "");
  EXPECT_EQ(with(", resident: true").complaint(),
            "T is resident in GB, and that is where it comes from.");
  EXPECT_EQ(with(", resident: true").differences(), std::vector<std::string>{});
}

// Random triples with regions, forwarded tensors and resident nodes.
TEST(RegionMapping, RandomTriplesAgreeWithTheModel) {
  const testing::RandomCases cases = testing::random_cases(1500);
  std::int64_t legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const triples::Triple triple = triples::region_triple(seed);
    const auto loaded = triples::load(triple, nullptr);
    ASSERT_TRUE(loaded) << seed;
    if (evaluate(loaded->problem, loaded->mapping)) ++legal;
    const std::vector<std::string> differing = triples::differences(*loaded);
    ASSERT_TRUE(differing.empty()) << "seed " << seed << ": " << differing.front() << "\n"
                                   << triples::to_yaml(triples::shrink(triple));
  }
  if (cases.count >= 100) {
    EXPECT_GT(legal, cases.count / 8);
  }
}

}  // namespace
}  // namespace sluice
