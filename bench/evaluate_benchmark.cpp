// Evaluations of given mappings in one process: random mappings of library workloads (the
// GPT-3 6.7B layer on tpu_v4i, one matmul on simple), priced by evaluate() with its whole account
// and by evaluate_totals(). Memories are as large as any mapping needs, so that all are legal.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "problems.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

using bench::load_problem;
using bench::random_divisor;
using Random = std::mt19937;

/// Memories on the way to a compute without a fanout above them; the loops are all temporal.
std::vector<ComponentId> plain_memories(const Arch& arch, const BoundCompute& compute) {
  std::vector<ComponentId> memories;
  for (ComponentId id : compute.path) {
    if (!arch[id].spatial.empty()) break;
    if (arch[id].is_memory()) memories.push_back(id);
  }
  return memories;
}

/// One Einsum: every tensor backed by the outermost memory, kept in each further one at a random
/// depth of a random loop nest.
NodeList random_branch(const BoundProblem& problem, const BoundEinsum& einsum, Random& random) {
  std::vector<ComponentId> memories = plain_memories(problem.arch, einsum.computes.front());
  NodeList loops;
  for (const VariableRange& range : problem.workload[einsum.einsum].iteration_space) {
    const std::int64_t tile = random_divisor(range.size, random);
    loops.push_back({TemporalNode{{range.variable}, tile, std::nullopt}});
    loops.push_back({TemporalNode{{range.variable}, 1, std::nullopt}});
  }
  // Keep the outer loop of each variable before its inner one.
  std::vector<std::size_t> order(loops.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i / 2;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<char> outer_done(loops.size(), 0);
  NodeList list;
  for (TensorId tensor : einsum.tensors) {
    StorageNode node;
    node.tensors = {tensor};
    node.component = memories.front();
    list.push_back({node});
  }
  const std::size_t n_backing = list.size();
  for (std::size_t variable : order) {
    list.push_back(loops[2 * variable + static_cast<std::size_t>(outer_done[variable])]);
    outer_done[variable] = 1;
  }
  for (TensorId tensor : einsum.tensors) {
    std::size_t place = n_backing;
    for (std::size_t m = 1; m < memories.size(); ++m) {
      place += random() % (list.size() - place + 1);
      StorageNode node;
      node.tensors = {tensor};
      node.component = memories[m];
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), {node});
      ++place;
    }
  }
  list.push_back({ComputeNode{einsum.einsum, einsum.computes.front().component}});
  return list;
}

Mapping random_mapping(const BoundProblem& problem, Random& random) {
  SplitNode split;
  for (const BoundEinsum& einsum : problem.einsums)
    split.children.push_back(random_branch(problem, einsum, random));
  return {{Node{split}}, {}};
}

struct Setup {
  BoundProblem problem;
  std::vector<Mapping> mappings;
  Setup(const std::string& workload, const std::string& arch)
      : problem(load_problem(workload, arch)) {
    Random random(1);
    for (int i = 0; i < 64; ++i) mappings.push_back(random_mapping(problem, random));
  }
};

void report_rates(benchmark::State& state, const Setup& setup) {
  const auto runs = static_cast<double>(state.iterations());
  state.counters["mappings/s"] = benchmark::Counter(runs, benchmark::Counter::kIsRate);
  state.counters["einsums/s"] = benchmark::Counter(
      runs * static_cast<double>(setup.problem.einsums.size()), benchmark::Counter::kIsRate);
}

void evaluate_all(benchmark::State& state, const std::string& workload, const std::string& arch) {
  const Setup setup(workload, arch);
  std::size_t next = 0;
  for (auto _ : state) {
    const auto cost = evaluate(setup.problem, setup.mappings[next++ % setup.mappings.size()]);
    if (!cost) state.SkipWithError(cost.error().front().message.c_str());
    benchmark::DoNotOptimize(cost);
  }
  report_rates(state, setup);
}
BENCHMARK_CAPTURE(evaluate_all, gpt3, "gpt3_6.7b", "tpu_v4i");
BENCHMARK_CAPTURE(evaluate_all, matmul, "matmul", "simple");

void totals_alone(benchmark::State& state, const std::string& workload, const std::string& arch) {
  const Setup setup(workload, arch);
  std::size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        evaluate_totals(setup.problem, setup.mappings[next++ % setup.mappings.size()]));
  report_rates(state, setup);
}
BENCHMARK_CAPTURE(totals_alone, gpt3, "gpt3_6.7b", "tpu_v4i");
BENCHMARK_CAPTURE(totals_alone, matmul, "matmul", "simple");

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
