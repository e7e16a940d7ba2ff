// `sluice evaluate --batch`: a stream of arbitrary mappings of a library workload, one JSON line
// each, read, priced and reported; the whole command.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../src/cli/command_line.h"
#include "problems.h"
#include "random_mappings.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

/// One Einsum's node list as the lines of a batch have it.
std::string json_of(const BoundProblem& problem, const NodeList& nodes) {
  std::string text;
  for (const Node& node : nodes) {
    text += text.empty() ? "" : ",";
    if (const auto* storage = std::get_if<StorageNode>(&node.kind))
      text += R"({"node":"Storage","tensors":[")" + problem.workload[storage->tensors[0]].name +
              R"("],"component":")" + problem.arch[storage->component].name + R"("})";
    if (const auto* loop = std::get_if<TemporalNode>(&node.kind))
      text += R"({"node":"Temporal","rank_variable":")" +
              problem.workload[loop->variables[0]].name + R"(","tile_shape":)" +
              std::to_string(loop->tile_shape) + "}";
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
      text += R"({"node":"Compute","einsum":")" + problem.workload[compute->einsum].name +
              R"(","component":")" + problem.arch[compute->component].name + R"("})";
  }
  return "[" + text + "]";
}

std::string line_of(const BoundProblem& problem, const Mapping& mapping) {
  const SplitNode& split = std::get<SplitNode>(mapping.nodes.front().kind);
  std::string children;
  for (const NodeList& child : split.children)
    children += std::string(children.empty() ? "" : ",") + R"({"node":"Nested","nodes":)" +
                json_of(problem, child) + "}";
  return R"({"nodes":[{"node":"Sequential","nodes":[)" + children + "]}]}\n";
}

void batch(benchmark::State& state, const std::string& workload, const std::string& arch,
           int n_mappings) {
  const BoundProblem problem = bench::load_problem(workload, arch, false);
  const auto file = std::filesystem::temp_directory_path() / "sluice_batch_benchmark.jsonl";
  {
    std::ofstream lines(file);
    std::mt19937 random(1);
    for (int legal = 0; legal < n_mappings;) {
      const Mapping mapping = bench::random_mapping(problem, random);
      if (!evaluate_totals(problem, mapping)) continue;
      lines << line_of(problem, mapping);
      ++legal;
    }
  }
  const std::string library = std::string(SLUICE_REPO_DIR) + "/library/";
  for (auto _ : state) {
    std::ostringstream out, err;
    const cli::Console console{out, err};
    const auto code = cli::run_command_line(
        {"evaluate", library + "workloads/" + workload + ".yaml",
         library + "architectures/" + arch + ".yaml", "--batch", file.string()},
        console);
    if (code != cli::ExitCode::kSuccess) state.SkipWithError(err.str().c_str());
  }
  state.counters["mappings/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * n_mappings, benchmark::Counter::kIsRate);
  std::filesystem::remove(file);
}
BENCHMARK_CAPTURE(batch, matmul, "matmul", "simple", 20000);
BENCHMARK_CAPTURE(batch, attention, "attention", "simple", 2000);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
