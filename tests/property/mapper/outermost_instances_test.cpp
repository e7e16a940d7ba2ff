// Several instances of the outermost memory: loops over them stand above its nodes, where every
// tensor that is backed there is indexed.
#include "brute_force_agreement.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

std::string arch_with_ports(const std::string& above, const std::string& ports,
                            const std::string& main, const std::string& buffer) {
  return "arch:\n  nodes:\n" + above + "  - !Memory {name: Main, size: inf, " + ports +
         "tensors: {keep: " + main +
         R"yaml(}, actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, )yaml" +
         buffer +
         R"yaml(, actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, spatial: [{name: lane, fanout: 2}], actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
}

constexpr const char* kPorts = "spatial: [{name: port, fanout: 2}], ";
constexpr const char* kBuffer = "size: 24, tensors: {keep: All}";

constexpr const char* kSum = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 4, N: 2}
  einsums:
  - "Z[m,n] = A[m,n] + B[m,n]"
)yaml";
constexpr const char* kChain = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 4, N: 2}
  einsums:
  - "Y[m] = A[m,n]"
  - "Z[m] = Y[m] * B[m]"
)yaml";

TEST(OutermostInstances, EachPortServesItsPart) {
  expect_brute_force_agreement(kSum + arch_with_ports("", kPorts, "All", kBuffer));
}

TEST(OutermostInstances, ContainersAboveTheMemoryCountToo) {
  expect_brute_force_agreement(
      kSum + arch_with_ports("  - !Container {name: Chip, spatial: [{name: x, fanout: 2}]}\n",
                             kPorts, "All", kBuffer));
}

TEST(OutermostInstances, EinsumsThatExchangeATensorThereShareTheLoop) {
  expect_brute_force_agreement(kChain + arch_with_ports("", kPorts, "All", kBuffer));
  expect_brute_force_agreement(
      kChain + arch_with_ports("", kPorts, "~Intermediates, may_keep: All", kBuffer));
}

// W is on every port; what is left of A and Z is indexed by m.
TEST(OutermostInstances, PersistentTensorsStandAboveTheLoops) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  persistent_tensors: W
  rank_sizes: {M: 4, N: 2}
  einsums:
  - "Z[m] = A[m,n] * W[n]"
)yaml" + arch_with_ports("", kPorts, "All", kBuffer));
}

// A in the buffer is kept from sinking by Y below it, above the split: so A in the main memory,
// which fills it, stands there, too.
TEST(OutermostInstances, WhatFillsANodeAboveASplitStandsAboveItToo) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  persistent_tensors: W | V
  rank_sizes: {M: 2, N: 2, L: 1}
  einsums:
  - "Y[m] = A[m,n] * W[n]"
  - "Z[m] = Y[m] * V[l]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, spatial: [{name: port, fanout: 2, min_usage: 0.5}], tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Memory {name: Buffer, size: inf, tensors: {keep: Inputs | ~Main}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 2}]}
)yaml");
}

// No variable indexes all three: one port works, the others wait.
TEST(OutermostInstances, AProductUsesOnePort) {
  expect_brute_force_agreement(R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 2, K: 2, N: 2}
  einsums:
  - "Z[m,n] = A[m,k] * W[k,n]"
)yaml" + arch_with_ports("", kPorts, "All", kBuffer));
}

// 4 · 4096 B at 1 GB/s would be 12.3 µs for the three tensors through one port; through four it is
// 3 · 4096 / 4 ns = 3.072 µs, which no mapping beats.
TEST(OutermostInstances, TheBoundIsThatOfAllPorts) {
  const auto specs = load_specs_from_text({{"ports.yaml", R"yaml(
workload:
  rank_sizes: {M: 64, N: 64}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m,n] = A[m,n] + B[m,n]"
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, spatial: [{name: port, fanout: 4}], tensors: {keep: All}, actions: [{name: read, energy: 7 pJ/bit, throughput: 1 GB/s}, {name: write, energy: 7 pJ/bit, throughput: 1 GB/s}]}
  - !Memory {name: Buffer, size: 64 KiB, tensors: {keep: All}, actions: [{name: read, energy: 0.2 pJ/bit, throughput: 1 TB/s}, {name: write, energy: 0.3 pJ/bit, throughput: 1 TB/s}]}
  - !Compute {name: ALU, spatial: [{name: lane, fanout: 64}], actions: [{name: compute, energy: 0.5 pJ, throughput: 1 GHz}]}
)yaml"}},
                                          {});
  ASSERT_TRUE(specs.has_value());
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem.has_value());
  EXPECT_NEAR(problem->bounds.memory_s, 3 * 4096 / 4e9, 1e-15);
  MapperOptions options;
  options.objectives = {Objective::kLatency};
  options.max_fused_loops = kUnlimitedLoops;
  const auto found = standard_mappers().find("fused")->map(*problem, options, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->mappings.front().cost.latency_s, 3.072e-6, 1e-15);
}

}  // namespace
}  // namespace sluice
