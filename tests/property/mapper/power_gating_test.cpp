// What an Einsum uses decides which gated components leak: in the mapper as in the model.
#include "brute_force_agreement.h"

namespace sluice {
namespace {

/// Main memory and buffer with something between them, and a compute; all leakage is gated.
std::string gated_arch(const std::string& between, const std::string& buffer,
                       const std::string& inside) {
  return R"yaml(arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
)yaml" + between +
         "  - !Memory {name: Buffer, " + buffer +
         R"yaml(, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
)yaml" + inside +
         "  - !Compute {name: MAC, leak_power: 3, power_gated: true, "
         "actions: [{name: compute, energy: 1, throughput: 1}]}\n";
}

constexpr const char* kProduct = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, K: 2, N: 2}
  einsums:
  - "Z[m,n] = A[m,k] * W[k,n]"
)yaml";
constexpr const char* kCopyAndProduct = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, K: 2}
  einsums:
  - {einsum: "B[m,k] = A[m,k]", is_copy_operation: true}
  - "Z[m] = B[m,k] * W[k]"
)yaml";

// An input goes down, the toll charges what comes up: it is on the way all the same.
TEST(PowerGating, ATollIsUsedByATensorThatItDoesNotCharge) {
  const std::string toll =
      "  - !Toll {name: Up, direction: up, tensors: {keep: A}, leak_power: 5, power_gated: true, "
      "actions: [{name: read, energy: 1, throughput: 8}]}\n";
  expect_brute_force_agreement(kProduct + gated_arch(toll, "size: inf, tensors: {keep: All}", ""));
}

TEST(PowerGating, ATollThatMayBePassedByIsUsedWhereANodeStandsThere) {
  const std::string toll =
      "  - !Toll {name: Up, direction: up, tensors: {may_keep: A}, leak_power: 5, power_gated: "
      "true, actions: [{name: read, energy: 1, throughput: 8}]}\n";
  expect_brute_force_agreement(kProduct + gated_arch(toll, "size: inf, tensors: {keep: All}", ""));
}

// A copy within Main moves nothing, but Main and the compute that it is written on are used.
TEST(PowerGating, ACopyUsesItsMemoriesAndItsCompute) {
  expect_brute_force_agreement(
      kCopyAndProduct +
      gated_arch("", "size: inf, leak_power: 7, power_gated: true, tensors: {may_keep: All}", ""));
}

TEST(PowerGating, AMemoryThatNobodyNeedsIsLeftAlone) {
  const std::string idle =
      "  - !Memory {name: Idle, size: inf, leak_power: 9, power_gated: true, tensors: {may_keep: "
      "All}, actions: [{name: read, energy: 0, throughput: 64}, {name: write, energy: 0, "
      "throughput: 64}]}\n";
  expect_brute_force_agreement(kProduct + gated_arch("", "size: inf, tensors: {keep: All}", idle));
}

// Free to cross, but not to keep awake.
TEST(PowerGating, ANetworkIsUsedByWhatCrossesIt) {
  const std::string network =
      "  - !Network {name: Wires, topology: bus, leak_power: 5, power_gated: true, hop_energy: 0, "
      "link_bandwidth: inf}\n  - !Container {name: Core, spatial: [{name: x, fanout: 2}]}\n";
  expect_brute_force_agreement(kCopyAndProduct +
                               gated_arch(network, "size: inf, tensors: {may_keep: All}", ""));
}

}  // namespace
}  // namespace sluice
