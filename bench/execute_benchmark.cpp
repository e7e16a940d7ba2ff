// The executor: iteration points a second, without a trace. Numbers are checked too, as in
// `sluice execute`.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/model/binding.h"
#include "sluice/referee/execute.h"

namespace sluice {
namespace {

constexpr const char* kOneCore = R"yaml(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

constexpr const char* kGrid = R"yaml(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: NoC, topology: mesh, channel_width: 64, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: x, fanout: 16, may_reuse: All}, {name: y, fanout: 16, may_reuse: All}]}
  - !Memory {name: RF, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

constexpr const char* kMatmul = R"yaml(
workload:
  rank_sizes: {M: 128, N: 128, K: 256}
  bits_per_value: {All: 8}
  einsums: ["C[m,n] = A[m,k] * B[k,n]"]
)yaml";

constexpr const char* kTiledMatmul = R"yaml(
mapping:
  nodes:
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 32}
  - !Temporal {rank_variable: n, tile_shape: 32}
  - !Storage {tensors: [A, B, C], component: GB}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)yaml";

constexpr const char* kSpreadMatmul = R"yaml(
mapping:
  nodes:
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 64}
  - !Temporal {rank_variable: n, tile_shape: 64}
  - !Storage {tensors: [A, B, C], component: GB}
  - !Spatial {rank_variable: m, tile_shape: 4, component: PE, name: x}
  - !Spatial {rank_variable: n, tile_shape: 4, component: PE, name: y}
  - !Storage {tensors: [C], component: RF}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)yaml";

constexpr const char* kConvolution = R"yaml(
workload:
  rank_sizes: {P: 32, Q: 32, R: 3, S: 3, C: 16, M: 32}
  bits_per_value: {All: 8}
  einsums: ["O[m,p,q] = I[c,H:p+r,W:q+s] * F[m,c,r,s]"]
mapping:
  nodes:
  - !Storage {tensors: [I, F, O], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 8}
  - !Storage {tensors: [I, F, O], component: GB}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Temporal {rank_variable: q, tile_shape: 1}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: c, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Temporal {rank_variable: s, tile_shape: 1}
  - !Compute {einsum: O, component: MAC}
)yaml";

constexpr const char* kAttention = R"yaml(
workload:
  rank_sizes: {H: 4, M: 128, P: 128, E: 32, F: 32}
  bits_per_value: {All: 8}
  einsums:
  - "QK[h,m,p] = Q[h,m,e] * K[h,p,e]"
  - "MX[h,m]   = max(QK[h,m,p])"
  - "EX[h,m,p] = exp(QK[h,m,p] - MX[h,m])"
  - "DN[h,m]   = sum(EX[h,m,p])"
  - "AV[h,m,f] = EX[h,m,p] * V[h,p,f]"
  - "Z[h,m,f]  = AV[h,m,f] / DN[h,m]"
mapping:
  nodes:
  - !Storage {tensors: [Q, K, V, Z], component: DRAM}
  - !Temporal {rank_variable: h, tile_shape: 1}
  - !Storage {tensors: [K, V], component: GB}
  - !Temporal {rank_variable: m, tile_shape: 16}
  - !Storage {tensors: [QK, MX, EX, DN, AV], component: GB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Storage {tensors: [Q], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Temporal {rank_variable: e, tile_shape: 1}, !Compute {einsum: QK, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: MX, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: EX, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: DN, component: MAC}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: f, tile_shape: 1}, !Temporal {rank_variable: p, tile_shape: 1}, !Compute {einsum: AV, component: MAC}]}
    - !Nested {nodes: [!Storage {tensors: [Z], component: GB}, !Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: f, tile_shape: 1}, !Compute {einsum: Z, component: MAC}]}
)yaml";

double points_of(const Workload& workload) {
  double all = 0;
  for (const Einsum& einsum : workload.einsums) {
    double points = 1;
    for (const VariableRange& range : einsum.iteration_space)
      points *= static_cast<double>(range.size);
    all += points;
  }
  return all;
}

void run(benchmark::State& state, const std::string& text) {
  const auto specs = load_specs_from_text({{"benchmark", text}}, {});
  if (!specs) {
    state.SkipWithError(to_string(specs.error().front()).c_str());
    return;
  }
  const auto problem = bind(*specs->workload, *specs->arch);
  for (auto _ : state) {
    const Execution execution = execute(problem->workload, problem->arch, specs->mappings.front());
    if (!execution.is_legal()) state.SkipWithError(execution.complaints.front().message.c_str());
  }
  state.counters["points/s"] =
      benchmark::Counter(points_of(problem->workload) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(run, matmul, std::string(kMatmul) + kOneCore + kTiledMatmul);
BENCHMARK_CAPTURE(run, convolution, std::string(kOneCore) + kConvolution);
BENCHMARK_CAPTURE(run, attention, std::string(kOneCore) + kAttention);
BENCHMARK_CAPTURE(run, matmul_on_256_lanes_and_a_mesh,
                  std::string(kMatmul) + kGrid + kSpreadMatmul);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
