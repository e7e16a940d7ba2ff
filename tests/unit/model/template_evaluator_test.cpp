#include "sluice/model/template_evaluator.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

/// Tile shapes for every loop of a template: mostly divisors of what stands outside.
class RandomShapes {
 public:
  RandomShapes(const Workload& workload, std::uint32_t seed) : workload_(workload), random_(seed) {}

  std::vector<std::int64_t> draw(const NodeList& nodes) {
    shapes_.clear();
    tile_.assign(workload_.rank_variables.size(), 1);
    for (const Einsum& einsum : workload_.einsums)
      for (const VariableRange& range : einsum.iteration_space)
        tile_[range.variable.index()] = range.size;
    walk(nodes);
    return shapes_;
  }

 private:
  /// True for the last loop of a variable in its list: usually it leaves a tile of 1.
  static bool is_last(const NodeList& nodes, std::size_t place, RankVariableId variable) {
    for (std::size_t i = place + 1; i < nodes.size(); ++i) {
      const auto* loop = std::get_if<TemporalNode>(&nodes[i].kind);
      const auto* spatial = std::get_if<SpatialNode>(&nodes[i].kind);
      if (loop && loop->variables[0] == variable) return false;
      if (spatial && spatial->variables[0] == variable) return false;
      if (std::holds_alternative<SplitNode>(nodes[i].kind)) return false;
    }
    return true;
  }

  void walk(const NodeList& nodes) {
    const std::vector<std::int64_t> outside = tile_;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<RankVariableId>* variables = nullptr;
      if (const auto* loop = std::get_if<TemporalNode>(&nodes[i].kind))
        variables = &loop->variables;
      if (const auto* loop = std::get_if<SpatialNode>(&nodes[i].kind)) variables = &loop->variables;
      if (variables) {
        std::int64_t& tile = tile_[(*variables)[0].index()];
        shapes_.push_back(choose(tile, is_last(nodes, i, (*variables)[0])));
        for (RankVariableId variable : *variables) tile_[variable.index()] = shapes_.back();
      }
      if (const auto* split = std::get_if<SplitNode>(&nodes[i].kind))
        for (const NodeList& child : split->children) walk(child);
    }
    tile_ = outside;
  }

  std::int64_t choose(std::int64_t tile, bool last) {
    const auto dice = random_() % 100;
    if (last && dice < 95) return 1;
    if (dice >= 97) return static_cast<std::int64_t>(1 + random_() % 5);  // need not divide, or fit
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= tile; ++d)
      if (tile % d == 0) divisors.push_back(d);
    return divisors[random_() % divisors.size()];
  }

  const Workload& workload_;
  std::mt19937 random_;
  std::vector<std::int64_t> shapes_, tile_;
};

/// Prices random variants both ways; returns how many of them were legal.
int compare(const Workload& workload, const Arch& arch, NodeList nodes, int n, std::uint32_t seed) {
  const BoundProblem problem = bound(workload, arch);
  const Mapping mapping{std::move(nodes), {}};
  TemplateEvaluator evaluator(problem, mapping);
  RandomShapes shapes(workload, seed);
  std::vector<std::int64_t> rows;
  for (int i = 0; i < n; ++i)
    for (std::int64_t shape : shapes.draw(mapping.nodes)) rows.push_back(shape);
  const std::vector<VariantCost> costs = evaluator.price(rows);
  int legal = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Mapping variant = evaluator.variant(rows.data() + i * evaluator.n_loops());
    const auto cost = evaluate(problem, variant);
    const VariantCost expected =
        cost ? VariantCost{cost->energy_j, cost->latency_s, true} : VariantCost{};
    EXPECT_EQ(costs[i], expected) << to_yaml(variant, workload, arch)
                                  << (cost ? "" : messages(cost.error()));
    if (!(costs[i] == expected)) break;
    legal += cost ? 1 : 0;
  }
  return legal;
}

/// Odd energies and rates, so that sums round; leakage, a double-buffered memory, a systolic array.
Arch machine() {
  Arch arch;
  Component buffer = memory("GB", "900", "Nothing", 0.3, 7);
  std::get<Memory>(buffer.kind).buffering = Buffering::kDouble;
  std::get<Memory>(buffer.kind).ports = Ports::kSeparate;
  buffer.actions[0].bits_per_action = 3;
  buffer.leak_power_w = 0.1;
  Component array = container("PE", {dimension("x", 4, "All"), dimension("y", 2, "Nothing")});
  std::get<Container>(array.kind).array = SystolicArray{{}, "x", "y"};
  Component element = memory("RF", "64", "Nothing", 0.7, 11);
  element.leak_power_w = 0.01;
  element.power_gated = true;
  element.total_latency = expression("max(a.n_calls / a.throughput for a in actions)");
  arch.components = {memory("DRAM", "inf", "Nothing", 10.1, 3), buffer, array, element,
                     compute("MAC", {{"compute", 0.9, 13, 1, 0, {}}})};
  return arch;
}

TEST(TemplateEvaluator, GivesTheBitsOfEvaluateForOneMatmul) {
  const Workload w = WorkloadBuilder({{"m", 12}, {"k", 16}, {"n", 6}}, 8)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  const Arch arch = machine();
  const MappingBuilder b(w, arch);
  const int legal =
      compare(w, arch,
              {b.storage("DRAM", {"A", "B", "C"}), b.temporal("k", 1), b.temporal("m", 1),
               b.storage("GB", {"C", "A", "B"}), b.temporal("n", 1), b.temporal("k", 1),
               b.spatial("m", 1, "PE", 0), b.spatial("k", 1, "PE", 1), b.storage("RF", {"A", "C"}),
               b.temporal("m", 1), b.temporal("k", 1), b.temporal("n", 1), b.compute("C", "MAC")},
              4000, 1);
  EXPECT_GT(legal, 1000);
}

// DRAM in blocks of 3 values, GB in thirds of bits, RF in widths that are no whole numbers.
TEST(TemplateEvaluator, GivesTheBitsOfEvaluateForWholeActions) {
  const Workload w = WorkloadBuilder({{"m", 12}, {"k", 16}, {"n", 6}}, 6.5)
                         .einsum("C[m,n] = A[m,k] * B[k,n]")
                         .workload;
  Arch arch = machine();
  for (Component& component : arch.components)
    if (auto* memory = std::get_if<Memory>(&component.kind))
      memory->partial_actions = PartialActions::kWhole;
  for (Action& action : arch.components[0].actions) action.bits_per_action = 24;
  for (Action& action : arch.components[3].actions) action.values_per_action = 5;
  const MappingBuilder b(w, arch);
  const int legal =
      compare(w, arch,
              {b.storage("DRAM", {"A", "B", "C"}), b.temporal("k", 1), b.temporal("m", 1),
               b.storage("GB", {"C", "A", "B"}), b.temporal("n", 1), b.temporal("k", 1),
               b.spatial("m", 1, "PE", 0), b.spatial("k", 1, "PE", 1), b.storage("RF", {"A", "C"}),
               b.temporal("m", 1), b.temporal("k", 1), b.temporal("n", 1), b.compute("C", "MAC")},
              4000, 1);
  EXPECT_GT(legal, 1000);
}

TEST(TemplateEvaluator, GivesTheBitsOfEvaluateForFusedEinsums) {
  const Workload w = WorkloadBuilder({{"m", 8}, {"k", 6}, {"n", 4}, {"l", 4}}, 8)
                         .einsum("T[m,n] = A[m,k] * B[k,n]")
                         .einsum("U[m,l] = T[m,n] * D[n,l]")
                         .persistent("B")
                         .workload;
  const Arch arch = machine();
  const MappingBuilder b(w, arch);
  const int legal =
      compare(w, arch,
              {b.storage("DRAM", {"A", "B", "D", "U"}), b.temporal("m", 1), b.storage("GB", {"T"}),
               b.temporal("n", 1),
               b.sequential({{b.storage("GB", {"B"}), b.temporal("k", 1), b.temporal("m", 1),
                              b.storage("GB", {"A"}), b.temporal("n", 1), b.temporal("k", 1),
                              b.compute("T", "MAC")},
                             {b.storage("GB", {"U", "D"}), b.temporal("l", 1), b.temporal("m", 1),
                              b.temporal("n", 1), b.temporal("l", 1), b.compute("U", "MAC")}})},
              4000, 2);
  EXPECT_GT(legal, 1000);
}

// The Einsums know their shared loop by different variables.
TEST(TemplateEvaluator, GivesTheBitsOfEvaluateForLoopsWithTwoNames) {
  const Workload w = WorkloadBuilder({{"m", 8}, {"p", 8}, {"k", 6}, {"n", 4}, {"l", 4}}, 8)
                         .einsum("T[m,n] = A[m,k] * B[k,n]")
                         .einsum("U[p,l] = T[m:p,n] * D[n,l]")
                         .workload;
  const Arch arch = machine();
  const MappingBuilder b(w, arch);
  Node shared = b.temporal("m", 1);
  std::get<TemporalNode>(shared.kind).variables.push_back(find_rank_variable(w, "p").value());
  const int legal =
      compare(w, arch,
              {b.storage("DRAM", {"A", "B", "D", "U"}), shared, b.storage("GB", {"T"}),
               b.sequential({{b.storage("GB", {"B"}), b.temporal("k", 1), b.temporal("m", 1),
                              b.temporal("n", 1), b.temporal("k", 1), b.compute("T", "MAC")},
                             {b.storage("GB", {"U", "D"}), b.temporal("l", 1), b.temporal("p", 1),
                              b.temporal("n", 1), b.temporal("l", 1), b.compute("U", "MAC")}})},
              2000, 5);
  EXPECT_GT(legal, 500);
}

TEST(TemplateEvaluator, GivesTheBitsOfEvaluateForWindowsAndCopies) {
  const Workload w = WorkloadBuilder({{"p", 8}, {"r", 3}, {"c", 4}}, 8)
                         .rank("XP", 10)
                         .einsum("Y[p] = X[c,XP:p+r] * W[c,r]")
                         .copy("Z[p] = Y[p]")
                         .workload;
  const Arch arch = machine();
  const MappingBuilder b(w, arch);
  const int legal =
      compare(w, arch,
              {b.storage("DRAM", {"X", "W", "Z"}), b.storage("GB", {"Y"}),
               b.sequential({{b.temporal("p", 1), b.storage("GB", {"X", "W"}), b.temporal("c", 1),
                              b.temporal("r", 1), b.storage("RF", {"X"}), b.temporal("c", 1),
                              b.temporal("p", 1), b.temporal("r", 1), b.compute("Y", "MAC")},
                             {b.temporal("p", 1), b.compute("Z", "MAC")}})},
              4000, 3);
  EXPECT_GT(legal, 1000);
}

TEST(TemplateEvaluator, PricesWhatNoProgramCovers) {
  const Workload w = WorkloadBuilder({{"p", 8}, {"r", 3}}, 8)
                         .rank("XP", 10)
                         .einsum("Y[p] = X[XP:p+r] * W[r]")
                         .workload;
  const Arch arch = machine();
  const MappingBuilder b(w, arch);
  Node sliding = b.storage("GB", {"X"});
  std::get<StorageNode>(sliding.kind).sliding = true;
  EXPECT_GT(compare(w, arch,
                    {b.storage("DRAM", {"X", "W", "Y"}), sliding, b.temporal("p", 1),
                     b.temporal("r", 1), b.temporal("p", 1), b.compute("Y", "MAC")},
                    300, 4),
            100);
}

}  // namespace
}  // namespace sluice::testing
