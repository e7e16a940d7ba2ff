// One forward from 128 to 128 nodes of a 16 x 16 mesh: every reader needs all channels (16,384
// messages, or 128 trees), or the rows of one node (128 messages).
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

std::string text_of(const std::string& maker, const std::string& reader,
                    const std::string& multicast) {
  const auto spatial = [](const std::string& variable) {
    return fmt::format(
        "      - !Spatial {{rank_variable: {0}, tile_shape: 16, component: Node, name: gx}}\n"
        "      - !Spatial {{rank_variable: {0}, tile_shape: 1, component: Node, name: gy}}\n",
        variable);
  };
  return fmt::format(R"(
workload:
  rank_sizes: {{B: 4, N: 128, C: 16, K: 128, L: 128}}
  bits_per_value: {{All: 16}}
  einsums:
  - "Y[b,n,k] = X[b,n,c] * V[k,c]"
  - "Z[b,n,l] = Y[b,n,k] * W[l,k]"
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, actions: [{{name: read, energy: 1, throughput: 1}}, {{name: write, energy: 1, throughput: 1}}]}}
  - !Network {{name: Mesh, topology: mesh, multicast: {2}, link_bandwidth: 1, hop_energy: 1}}
  - !Container {{name: Node, spatial: [{{name: gx, fanout: 16}}, {{name: gy, fanout: 16}}]}}
  - !Memory {{name: GB, size: inf, actions: [{{name: read, energy: 1, throughput: 1}}, {{name: write, energy: 1, throughput: 1}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
mapping:
  nodes:
  - !Storage {{tensors: [X, V, W, Z], component: DRAM}}
  - !Temporal {{rank_variable: b, tile_shape: 1}}
  - !Pipeline
    over: gx
    shares: [8, 8]
    forward: {{Y: GB}}
    nodes:
    - !Nested
      nodes:
{0}      - !Storage {{tensors: [Y], component: GB}}
      - !Temporal {{rank_variable: n, tile_shape: 1}}
      - !Temporal {{rank_variable: k, tile_shape: 1}}
      - !Temporal {{rank_variable: c, tile_shape: 1}}
      - !Compute {{einsum: Y, component: MAC}}
    - !Nested
      nodes:
{1}      - !Storage {{tensors: [Y, Z], component: GB}}
      - !Temporal {{rank_variable: n, tile_shape: 1}}
      - !Temporal {{rank_variable: l, tile_shape: 1}}
      - !Temporal {{rank_variable: k, tile_shape: 1}}
      - !Compute {{einsum: Z, component: MAC}}
)",
                     spatial(maker), spatial(reader), multicast);
}

void forward_to_128(benchmark::State& state, const std::string& maker, const std::string& reader,
                    const std::string& multicast) {
  const auto specs =
      load_specs_from_text({{"forward.yaml", text_of(maker, reader, multicast)}}, {});
  const BoundProblem problem = *bind(*specs.value().workload, *specs->arch);
  for (auto _ : state) {
    const auto cost = evaluate(problem, specs->mappings.front());
    if (!cost) state.SkipWithError(cost.error().front().message.c_str());
    benchmark::DoNotOptimize(cost);
  }
}
BENCHMARK_CAPTURE(forward_to_128, channels, "k", "l", "dimension_order");
BENCHMARK_CAPTURE(forward_to_128, rows, "n", "n", "dimension_order");
BENCHMARK_CAPTURE(forward_to_128, channels_by_trees, "k", "l", "greedy_tree");

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
