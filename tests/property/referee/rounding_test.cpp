// Numbers that differ by rounding alone are no mistakes of a mapping, however small what is left.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/referee/execute.h"

namespace sluice {
namespace {

constexpr const char* kSpecs = R"yaml(workload:
  rank_sizes: {M: 2, N: 6}
  bits_per_value: {All: 8}
  einsums:
  - "A[m,n] = exp(X[m,n])"
  - "B[m] = sum(A[m,n])"
  - "C[m,n] = A[m,n] - B[m] / 6"
  - "Z[m] = sum(C[m,n])"
  - "Y[m] = Z[m] * S[m]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Lane, spatial: [{name: X, fanout: 3}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [X, A, B, C, Z, S, Y], component: Main}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: A, component: ALU}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Spatial {rank_variable: n, tile_shape: 2, name: X, component: Lane}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: B, component: ALU}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: C, component: ALU}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Spatial {rank_variable: n, tile_shape: 2, name: X, component: Lane}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: Z, component: ALU}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Y, component: ALU}]}
)yaml";

// Z is the rounding of its sum alone, and Y is made of it.
TEST(Rounding, OfWhatAnElementIsMadeOfIsForgiven) {
  const auto specs = load_specs_from_text({{"specs.yaml", kSpecs}}, {});
  ASSERT_TRUE(specs) << to_string(specs.error());
  std::int64_t n_exact = 0, n_compared = 0;
  constexpr std::uint64_t kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ExecutionOptions options;
    options.seed = seed;
    const Execution run = execute(*specs->workload, *specs->arch, specs->mappings.front(), options);
    EXPECT_TRUE(run.complaints.empty()) << run.complaints.front().message;
    n_exact += run.numbers.exact;
    n_compared += run.numbers.compared;
  }
  EXPECT_LT(n_exact, n_compared);  // some differ
}

}  // namespace
}  // namespace sluice
