// Directives and mappings: each is a view of the other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/kapla/loop_tree.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// conv2_a of AlexNet as KAPLA maps it: 16 x 16 nodes of 8 x 8 elements (networks of
// docs/networks.md), with 28 rows of outputs, as its four folds of seven make.
constexpr const char* kProblem = R"yaml(workload:
  rank_sizes: {N: 64, K: 128, C: 48, Yo: 28, Xo: 27, R: 5, S: 5}
  bits_per_value: {All: 16}
  einsums:
  - {name: conv2_a, einsum: "O[n,k,Yo:yo,Xo:xo] = I[n,c,Yi:yo+s,Xi:xo+r] * W[k,c,r,s]"}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 100, throughput: 25}, {name: write, energy: 100, throughput: 25}]}
  - !Container {name: Node, spatial: [{name: down, fanout: 16}, {name: across, fanout: 16}]}
  - !Memory {name: GBUF, size: 128 KiB, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Container {name: PE, spatial: [{name: rows, fanout: 8}, {name: columns, fanout: 8}]}
  - !Memory {name: REGF, size: 64 B, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

constexpr const char* kDirectives = R"(conv2_a
  REGF
    tensor{W}(C=3, K=1, R=5, S=1)
    tensor{I}(N=1, C=3, Xi=5, Yi=1)
    tensor{O}(N=1, K=1, Xo=1, Yo=1)
    stack(Yi+=1, Yo+=1, 7)
    stack(S+=1, Yi+=1, 5)
    update(Xi+=1, Xo+=1)
    update(Yi+=7, Yo+=7)
    update(N+=1)
    update(C+=3)
    update(K+=1)
  GBUF
    tensor{W}(C=3, K=16, R=5, S=5)
    tensor{I}(N=4, C=3, Xi=31, Yi=32)
    tensor{O}(N=4, K=16, Xo=27, Yo=28)
    stack(N+=4, 2)
    stack(N+=8, 8)
    stack(C+=3, 8)
    stack(C+=24, 2)
    update(K+=16)
    update(C+=3)
    update(N+=4)
)";

// What comes back: no update that has nothing to do, the dimension of each stack, and what stands
// inside registers and outside buffers.
constexpr const char* kCanonical = R"(conv2_a
  MAC
    tensor{I}(N=1, C=1, Yi=1, Xi=1)
    tensor{W}(K=1, C=1, R=1, S=1)
    tensor{O}(N=1, K=1, Yo=1, Xo=1)
    update(Xi+=1, R+=1)
    update(C+=1)
  REGF
    tensor{W}(K=1, C=3, R=5, S=1)
    tensor{I}(N=1, C=3, Yi=1, Xi=5)
    tensor{O}(N=1, K=1, Yo=1, Xo=1)
    stack{columns}(Yi+=1, Yo+=1, 7)
    stack{rows}(Yi+=1, S+=1, 5)
    update(Xi+=1, Xo+=1)
    update(Yi+=7, Yo+=7)
    update(N+=1)
    update(K+=1)
  GBUF
    tensor{W}(K=16, C=3, R=5, S=5)
    tensor{I}(N=4, C=3, Yi=32, Xi=31)
    tensor{O}(N=4, K=16, Yo=28, Xo=27)
    stack{across}(N+=4, 2)
    stack{across}(N+=8, 8)
    stack{down}(C+=3, 8)
    stack{down}(C+=24, 2)
    update(K+=16)
  DRAM
    tensor{I}(N=64, C=48, Yi=32, Xi=31)
    tensor{W}(K=128, C=48, R=5, S=5)
    tensor{O}(N=64, K=128, Yo=28, Xo=27)
)";

BoundProblem problem_of(const std::string& text) {
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
  return bind(*specs->workload, *specs->arch).value();
}

Mapping mapping_of(const std::string& directives, const BoundProblem& problem) {
  const auto layers = kapla::parse_directives(directives, "d.txt");
  if (!layers) throw std::runtime_error(to_string(layers.error()));
  const auto mapping = kapla::to_loop_tree(*layers, problem, "d.txt");
  if (!mapping) throw std::runtime_error(to_string(mapping.error()));
  return *mapping;
}

TEST(Directives, AreTheMappingsTheySay) {
  const BoundProblem problem = problem_of(kProblem);
  const auto layers = kapla::to_directives(mapping_of(kDirectives, problem), problem);
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(kapla::to_text(*layers), kCanonical);
  EXPECT_EQ(mapping_of(kCanonical, problem), mapping_of(kDirectives, problem));
}

double counted(const Cost& cost, const BoundProblem& problem, const char* component,
               const char* tensor, const char* action) {
  for (const EnergyRow& row : cost.energy)
    if (problem.arch[row.component].name == component && row.tensor &&
        problem.workload[*row.tensor].name == tensor && row.action == action)
      return row.count.value_or(-1);
  return -1;
}

// Words. DRAM: weights 48·128·25; inputs 64·48·32·31; outputs 64·128·28·27, all once, as no loop
// comes back to a box. Buffers: 16 nodes have the same weights, and 16 the same outputs. From
// buffers each K and each fold of Yo reads 11 rows of the 4·3·31 inputs of a node anew: 44 rows,
// not 32, 64·48·44·31·(8·16). Registers: a row of weights is multicast to 7 columns; each of 35
// elements gets 31 inputs in each of 16·3·128 steps of 256 nodes, as the published 1,706,557,440
// words of the bus.
TEST(Directives, OfConv2aCountWhatTheArithmeticSays) {
  const BoundProblem problem = problem_of(kProblem);
  const auto cost = evaluate(problem, mapping_of(kDirectives, problem));
  ASSERT_TRUE(cost.has_value()) << cost.error()[0].message;
  const auto count = [&](const char* component, const char* tensor, const char* action) {
    return counted(*cost, problem, component, tensor, action);
  };
  EXPECT_EQ(count("DRAM", "W", "read"), 48 * 128 * 25);
  EXPECT_EQ(count("DRAM", "I", "read"), 64 * 48 * 32 * 31);
  EXPECT_EQ(count("DRAM", "O", "write"), 64 * 128 * 28 * 27);
  EXPECT_EQ(count("GBUF", "W", "read"), 153600 * 16);
  EXPECT_EQ(count("GBUF", "O", "write"), 6193152 * 16);
  EXPECT_EQ(count("GBUF", "I", "read"), 64 * 48 * 44 * 31 * 8.0 * 16);
  EXPECT_EQ(count("REGF", "W", "write"), 153600 * 16 * 7);
  EXPECT_EQ(count("REGF", "I", "write"), 31.0 * 35 * 48 * 128 * 256);
  EXPECT_EQ(count("REGF", "W", "read"), 64.0 * 128 * 48 * 28 * 27 * 25);
}

// Nodes that fetch all of their tile in each step, one inside the other at one memory.
TEST(Directives, MarkWhatIsFetchedWhole) {
  const BoundProblem problem = problem_of(kProblem);
  const auto specs = load_specs_from_text({{"problem.yaml", std::string(kProblem) + R"yaml(mapping:
  nodes:
  - !Storage {tensors: [I, W, O], component: DRAM}
  - !Temporal {rank_variable: k, tile_shape: 16}
  - !Storage {tensors: [W], component: GBUF}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Storage {tensors: [I, O], component: GBUF}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Temporal {rank_variable: c, tile_shape: 1}
  - !Temporal {rank_variable: yo, tile_shape: 1}
  - !Temporal {rank_variable: xo, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Temporal {rank_variable: s, tile_shape: 1}
  - !Compute {einsum: conv2_a, component: MAC}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  const auto layers = kapla::to_directives(specs->mappings[0], problem);
  ASSERT_TRUE(layers.has_value());
  EXPECT_THAT(kapla::to_text(*layers),
              HasSubstr("  GBUF.2\n    tensor{W}(K=16, C=48, R=5, S=5, whole)\n"
                        "    update(K+=16)\n"));
  EXPECT_EQ(*kapla::to_loop_tree(*layers, problem, ""),
            mapping_of(kapla::to_text(*layers), problem));
  EXPECT_EQ(mapping_of(kapla::to_text(*layers), problem).nodes.size(),
            specs->mappings[0].nodes.size() + 3);  // one node for each tensor
}

// 16 nodes have the same weights; each keeps a sixteenth of the 16 · 3 · 25 values, by output
// channels, and hands it on 15 times in each of 8 steps of K: that the shares go round across,
// along k, is what the loops say.
TEST(Directives, LetSharesGoRoundAsTheLoopsSay) {
  std::string text = kProblem;
  text.replace(text.find("  - !Container {name: Node"), 0,
               "  - !Network {name: Mesh, topology: mesh, link_bandwidth: inf, hop_energy: 1}\n");
  const BoundProblem problem = problem_of(text);
  const std::string directives = R"(conv2_a
  MAC
    tensor{W}(K=1, C=1, R=1, S=1)
    update(Yi+=1, S+=1)
    update(Xi+=1, R+=1)
    update(Xi+=1, Xo+=1)
    update(Yi+=1, Yo+=1)
    update(N+=1)
    update(C+=1)
    update(K+=1)
  GBUF
    tensor{W}(K=16, C=3, R=5, S=5, 16)
    tensor{I}(N=4, C=3, Yi=32, Xi=31, whole)
    tensor{O}(N=4, K=16, Yo=28, Xo=27, whole)
    stack{across}(N+=4, 16)
    stack{down}(C+=3, 16)
    update(K+=16)
)";
  const Mapping mapping = mapping_of(directives, problem);
  std::vector<StorageNode> shared;
  for (const Node& node : mapping.nodes)
    if (const auto* storage = std::get_if<StorageNode>(&node.kind); storage && storage->shared_by)
      shared.push_back(*storage);
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].over, "across");
  EXPECT_EQ(problem.workload[*shared[0].along].name, "k");
  const auto layers = kapla::to_directives(mapping, problem);
  ASSERT_TRUE(layers.has_value()) << to_string(layers.error());
  EXPECT_THAT(kapla::to_text(*layers), HasSubstr("tensor{W}(K=16, C=3, R=5, S=5, 16)"));
  EXPECT_EQ(mapping_of(kapla::to_text(*layers), problem), mapping);
  const auto cost = evaluate(problem, mapping);
  ASSERT_TRUE(cost.has_value()) << cost.error()[0].message;
  // Each of 256 nodes gets 25 · 3 words of its own in each of 8 steps of K from DRAM, and 15 times
  // as many from its neighbour.
  EXPECT_EQ(counted(*cost, problem, "GBUF", "W", "write"), 256.0 * 8 * 75 * 16);
  EXPECT_EQ(counted(*cost, problem, "DRAM", "W", "read"), 128.0 * 48 * 25);
}

TEST(Directives, SayWhereSharesCannotGoRound) {
  const BoundProblem problem = problem_of(kProblem);
  const auto mistake = [&](std::string from, const std::string& to) {
    std::string text = kDirectives;
    text.replace(text.find(from), from.size(), to);
    const auto mapping =
        kapla::to_loop_tree(*kapla::parse_directives(text, "d.txt"), problem, "d.txt");
    return mapping ? "no mistake" : to_string(mapping.error());
  };
  EXPECT_THAT(
      mistake("tensor{W}(C=3, K=16, R=5, S=5)", "tensor{W}(C=3, K=16, R=5, S=5, 8)"),
      HasSubstr("d.txt:14:12: error: no dimension has 8 buffers with the same W: across 16"));
  EXPECT_THAT(mistake("tensor{I}(N=4, C=3, Xi=31, Yi=32)", "tensor{I}(N=4, C=3, Xi=31, Yi=32, 2)"),
              HasSubstr("no dimension has 2 buffers with the same I"));
  EXPECT_THAT(mistake("stack(C+=24, 2)", "stack(C+=24, 3)"),
              HasSubstr("C = 48 fills 2 of the 3 buffers of this stack"));
}

/// Rows of one cost that the other has not.
std::string rows_beyond(const Cost& cost, const Cost& other, const BoundProblem& problem) {
  std::string text;
  for (const EnergyRow& row : cost.energy)
    if (std::find(other.energy.begin(), other.energy.end(), row) == other.energy.end())
      text += fmt::format(
          "{} {} {} {} {}\n", problem.arch[row.component].name, problem.workload[row.einsum].name,
          row.tensor ? problem.workload[*row.tensor].name : "", row.action, row.actions);
  return text;
}

// Random mappings: those that directives can say cost the same when they come back, and say the
// same.
TEST(Directives, OfRandomMappingsComeBack) {
  const testing::RandomCases cases = testing::random_cases(1000);
  std::int64_t n_said = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto triple = triples::load(triples::random_triple(seed), nullptr);
    if (!triple) continue;
    const auto cost = evaluate(triple->problem, triple->mapping);
    const auto layers = kapla::to_directives(triple->mapping, triple->problem);
    if (!cost || !layers) continue;
    const std::string text = kapla::to_text(*layers);
    const auto parsed = kapla::parse_directives(text, "d.txt");
    ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error()) << text;
    const auto back = kapla::to_loop_tree(*parsed, triple->problem, "d.txt");
    ASSERT_TRUE(back.has_value()) << to_string(back.error()) << text;
    ++n_said;
    const std::string said = kapla::to_text(*kapla::to_directives(*back, triple->problem));
    if (layers->size() == 1) {
      EXPECT_EQ(said, text);
    }
    EXPECT_EQ(mapping_of(said, triple->problem), *back) << said;
    const auto again = evaluate(triple->problem, *back);
    ASSERT_TRUE(again.has_value())
        << again.error()[0].message << "\n"
        << text << to_yaml(triple->mapping, triple->problem.workload, triple->problem.arch);
    EXPECT_NEAR(again->energy_j, cost->energy_j, 1e-12 * cost->energy_j)
        << rows_beyond(*cost, *again, triple->problem) << "now\n"
        << rows_beyond(*again, *cost, triple->problem) << text
        << to_yaml(triple->mapping, triple->problem.workload, triple->problem.arch)
        << to_yaml(*back, triple->problem.workload, triple->problem.arch);
    if (::testing::Test::HasFailure()) return;
  }
  // Of the kinds that are drawn, directives can say no trees, ports, parts, regions and more.
  EXPECT_GT(n_said * 10, cases.count);
}

}  // namespace
}  // namespace sluice
