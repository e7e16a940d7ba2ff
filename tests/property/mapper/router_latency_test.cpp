// Networks whose routers take time: each step of a node waits for the longest route, so that many
// small steps cost more than few large ones that move the same values.
#include "brute_force_agreement.h"

namespace sluice {
namespace {

std::string problem_with(const std::string& einsums, const std::string& topology,
                         const std::string& buffer) {
  return R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 4, K: 2, N: 2, L: 2}
  einsums:
)yaml" + einsums +
         R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 64, throughput: 8}, {name: write, energy: 32, throughput: 8}]}
  - !Network {name: Wires, topology: )yaml" +
         topology + ", hop_energy: 1, link_bandwidth: 16, router_latency: 4}\n" +
         R"yaml(  - !Container {name: Core, spatial: [{name: x, fanout: 2, may_reuse: All}]}
  - !Memory {name: Buffer, tensors: {keep: ~Main, may_keep: All}, size: )yaml" +
         buffer +
         R"yaml(, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
}

constexpr const char* kRoutedProduct = "  - \"Z[m,n] = A[m,k] * W[k,n]\"\n";
constexpr const char* kChain =
    "  - \"B[m,k] = A[m,l] * V[l,k]\"\n  - \"Z[m,n] = B[m,k] * W[k,n]\"\n";

class RouterLatency : public ::testing::TestWithParam<const char*> {};

// A larger buffer has room for tiles that a node would not hold if it sank.
TEST_P(RouterLatency, IsMinimisedAsBruteForceMinimisesIt) {
  for (const char* buffer : {"48", "96"})
    expect_brute_force_agreement(problem_with(kRoutedProduct, GetParam(), buffer));
}

TEST_P(RouterLatency, IsMinimisedOfFusedEinsums) {
  for (const char* buffer : {"160"})
    expect_brute_force_agreement(problem_with(kChain, GetParam(), buffer));
}

// The weights in the buffer are kept from sinking by the inputs in the registers below them.
TEST(RouterLatencyOfNodes, IsMinimisedWhereAnotherOneKeepsThemFromSinking) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {N0: 4, N1: 2}
  bits_per_value: {All: 16}
  einsums:
  - {einsum: "Z[n1] = A[n0] * W[n0,n1]", renames: {input: A}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 16, throughput: inf}]}
  - !Network {name: Wires, topology: bus, hop_energy: 2, link_bandwidth: inf, router_latency: 2}
  - !Memory {name: Buffer, size: 168, tensors: {keep: All}, actions: [{name: read, energy: 4, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Memory {name: Register, size: inf, tensors: {keep: input}, actions: [{name: read, energy: 3, throughput: inf}, {name: write, energy: 3, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 4}]}
)yaml");
}

INSTANTIATE_TEST_SUITE_P(Topologies, RouterLatency, ::testing::Values("mesh", "bus", "ring"));

}  // namespace
}  // namespace sluice
