// Evaluations of given mappings in one process: random mappings of library workloads (the
// GPT-3 6.7B layer on tpu_v4i, one matmul on simple), priced by evaluate() with its whole account
// and by evaluate_totals(). Memories are as large as any mapping needs, so that all are legal.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "problems.h"
#include "random_mappings.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

using bench::load_problem;
using bench::random_mapping;
using Random = std::mt19937;

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
