// Tile-shape variants of one template in one process: the loops and storage nodes of a mapping are
// fixed, their tile shapes drawn at random among the divisors. One matmul through the memories of
// an architecture, priced by TemplateEvaluator and, beside it, by evaluate_totals().
#include <benchmark/benchmark.h>

#include <random>

#include "problems.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/template_evaluator.h"

namespace sluice {
namespace {

using Random = std::mt19937;

/// The next variable that a dimension may walk.
RankVariableId variable_for(const BoundProblem& problem, ComponentId component, std::uint32_t d,
                            std::size_t& next) {
  const BoundEinsum& einsum = problem.einsums.front();
  const auto& ranges = problem.workload.einsums.front().iteration_space;
  const TensorMask reuse = einsum.components[component.index()].spatial[d].reuse;
  for (;;) {
    const std::size_t v = next++ % ranges.size();
    bool allowed = true;
    for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
      if ((reuse >> t) & 1) allowed &= einsum.relevance[t][v] == Relevance::kIrrelevant;
    if (allowed) return ranges[v].variable;
  }
}

/// Every tensor backed by the outermost memory and kept in each further one; a loop over every
/// variable above each memory, and the spatial dimensions of the architecture over two of them.
NodeList template_of(const BoundProblem& problem) {
  const BoundEinsum& einsum = problem.einsums.front();
  const BoundCompute& compute = einsum.computes.front();
  const auto& ranges = problem.workload.einsums.front().iteration_space;
  NodeList list;
  std::size_t next_variable = 0;
  bool first_memory = true;
  for (ComponentId id : compute.path) {
    const Component& component = problem.arch[id];
    for (std::uint32_t d = 0; d < component.spatial.size(); ++d)
      list.push_back(
          {SpatialNode{{variable_for(problem, id, d, next_variable)}, 1, id, d, std::nullopt}});
    if (!component.is_memory()) continue;
    if (!first_memory)
      for (const VariableRange& range : ranges)
        list.push_back({TemporalNode{{range.variable}, 1, std::nullopt}});
    for (TensorId tensor : einsum.tensors) {
      StorageNode node;
      node.tensors = {tensor};
      node.component = id;
      list.push_back({node});
    }
    first_memory = false;
  }
  for (const VariableRange& range : ranges)
    list.push_back({TemporalNode{{range.variable}, 1, std::nullopt}});
  list.push_back({ComputeNode{einsum.einsum, compute.component}});
  return list;
}

/// Tile shapes of every loop: divisors of the enclosing tile, within the fanouts.
std::vector<std::int64_t> random_shapes(const BoundProblem& problem, const NodeList& nodes,
                                        Random& random) {
  std::vector<std::int64_t> tile(problem.workload.rank_variables.size(), 1), shapes;
  std::vector<std::size_t> last(tile.size(), 0);
  for (const VariableRange& range : problem.workload.einsums.front().iteration_space)
    tile[range.variable.index()] = range.size;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (const auto* loop = std::get_if<TemporalNode>(&nodes[i].kind))
      last[loop->variables[0].index()] = i;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto* temporal = std::get_if<TemporalNode>(&nodes[i].kind);
    const auto* spatial = std::get_if<SpatialNode>(&nodes[i].kind);
    if (!temporal && !spatial) continue;
    const auto v = (temporal ? temporal->variables : spatial->variables)[0].index();
    std::int64_t shape = bench::random_divisor(tile[v], random);
    if (temporal && last[v] == i) shape = 1;
    if (spatial) {
      const std::int64_t fanout =
          problem.arch[spatial->component].spatial[spatial->dimension].fanout;
      while (tile[v] / shape > fanout) shape = bench::random_divisor(tile[v], random);
    }
    shapes.push_back(shape);
    tile[v] = shape;
  }
  return shapes;
}

struct Setup {
  BoundProblem problem;
  Mapping mapping;
  std::vector<std::int64_t> shapes;
  std::size_t n = 200000;

  Setup(const std::string& workload, const std::string& arch)
      : problem(bench::load_problem(workload, arch)), mapping{template_of(problem), {}} {
    Random random(1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t shape : random_shapes(problem, mapping.nodes, random))
        shapes.push_back(shape);
  }
};

void report_rate(benchmark::State& state, double variants) {
  state.counters["variants/s"] = benchmark::Counter(variants, benchmark::Counter::kIsRate);
}

void template_variants(benchmark::State& state, const std::string& workload,
                       const std::string& arch) {
  const Setup setup(workload, arch);
  TemplateEvaluator evaluator(setup.problem, setup.mapping);
  std::vector<VariantCost> costs(setup.n);
  for (int warm_up = 0; warm_up < 3; ++warm_up)  // the programs are written
    evaluator.price(setup.shapes.data(), setup.n, costs.data());
  std::size_t legal = 0;
  for (const VariantCost& cost : costs) legal += cost.legal ? 1 : 0;
  for (auto _ : state) {
    evaluator.price(setup.shapes.data(), setup.n, costs.data());
    benchmark::DoNotOptimize(costs.data());
  }
  report_rate(state, static_cast<double>(state.iterations()) * static_cast<double>(setup.n));
  state.counters["legal"] = static_cast<double>(legal) / static_cast<double>(setup.n);
}
BENCHMARK_CAPTURE(template_variants, matmul_simple, "matmul", "simple");
BENCHMARK_CAPTURE(template_variants, matmul_tpu_v4i, "matmul", "tpu_v4i");

void one_by_one(benchmark::State& state, const std::string& workload, const std::string& arch) {
  const Setup setup(workload, arch);
  const TemplateEvaluator evaluator(setup.problem, setup.mapping);
  std::vector<Mapping> variants;
  for (std::size_t i = 0; i < 64; ++i)
    variants.push_back(evaluator.variant(setup.shapes.data() + i * evaluator.n_loops()));
  std::size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(evaluate_totals(setup.problem, variants[next++ % variants.size()]));
  report_rate(state, static_cast<double>(state.iterations()));
}
BENCHMARK_CAPTURE(one_by_one, matmul_simple, "matmul", "simple");
BENCHMARK_CAPTURE(one_by_one, matmul_tpu_v4i, "matmul", "tpu_v4i");

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
