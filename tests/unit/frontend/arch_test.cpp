#include <gtest/gtest.h>

#include "unit/frontend/loading.h"

namespace sluice {
namespace {

const std::string kCompute =
    "  - !Compute {name: MAC, actions: [{name: compute, energy: 0.084 pJ, throughput: 1.05 "
    "GHz}]}\n";

TEST(ArchReader, ConvertsUnitsToActions) {
  const Arch arch = arch_of(R"yaml(
arch:
  clock: 2 GHz
  nodes:
  - !Memory
    name: DRAM
    size: 1 KiB
    leak_power: 3 mW
    area: 2 mm2
    actions:
    - {name: read, energy: 7 pJ/bit, throughput: 64 GB/s, bits_per_action: 64}
    - {name: write, energy: 7 pJ, throughput: 32 bit/cycle, setup: 12 cycles}
)yaml" + kCompute);
  const Component& dram = arch.components.at(0);
  EXPECT_EQ(std::get<Memory>(dram.kind).size_bits.constant(), 8192);
  EXPECT_DOUBLE_EQ(dram.actions[0].energy_j, 7e-12 * 64);
  EXPECT_EQ(dram.actions[0].throughput, 64e9 * 8 / 64);
  EXPECT_EQ(dram.actions[1].energy_j, 7e-12);
  EXPECT_EQ(dram.actions[1].throughput, 32 * 2e9);
  EXPECT_EQ(dram.actions[1].setup_s, 6e-9);
  EXPECT_EQ(dram.leak_power_w, 3e-3);
  EXPECT_EQ(dram.area_m2, 2e-6);
  EXPECT_EQ(arch.components.at(1).actions[0].energy_j, 8.4e-14);
}

TEST(ArchReader, WarnsOfAClockWithoutItsUnit) {
  const auto specs =
      load_specs_from_text({{"arch.yaml", "arch:\n  clock: 1\n  nodes:\n" + kCompute}}, {});
  ASSERT_TRUE(specs);
  ASSERT_EQ(specs->warnings.size(), 1U);
  EXPECT_EQ(specs->warnings.front().message, "a clock of 1 Hz");
  EXPECT_EQ(specs->warnings.front().location.line, 2);
}

TEST(ArchReader, NestsForksAndKeepsDocumentOrder) {
  const Arch arch = arch_of(
      "arch:\n  nodes:\n  - !Container {name: A}\n  - !Fork\n    nodes:\n"
      "    - !Container {name: B}\n    - !Fork {nodes: [!Container {name: C}]}\n" +
      kCompute);
  ASSERT_EQ(arch.components.size(), 4U);
  EXPECT_FALSE(arch.components[0].fork);
  EXPECT_EQ(arch.components[1].fork, ForkId(0));
  EXPECT_EQ(arch.components[2].fork, ForkId(1));
  EXPECT_EQ(arch.forks[1].parent, ForkId(0));
  EXPECT_FALSE(arch.components[3].fork);
}

TEST(ArchReader, MayReuseIsReuseOrElseEverything) {
  const Arch arch = arch_of(
      "arch:\n  nodes:\n  - !Container {name: A, spatial: [{name: x, fanout: 2}, "
      "{name: y, fanout: 3, reuse: input}]}\n" +
      kCompute);
  EXPECT_EQ(arch.components[0].spatial[0].may_reuse.to_string(), "All");
  EXPECT_EQ(arch.components[0].spatial[1].may_reuse.to_string(), "input");
}

TEST(ArchReader, ExpressionsOverTensorsStayExpressions) {
  const Arch arch = arch_of(
      "variables: {WIDTH: 3}\narch:\n  nodes:\n  - !Memory {name: R, size: WIDTH * "
      "weight.bits_per_value, actions: [{name: read, energy: 0, throughput: inf}, "
      "{name: write, energy: 0, throughput: inf}]}\n" +
      kCompute);
  EXPECT_EQ(std::get<Memory>(arch.components[0].kind).size_bits.to_string(),
            "3 * weight.bits_per_value");
}

TEST(ArchReader, AUnitInAVariableIsChecked) {
  const std::string text =
      "variables: {E: 3 pJ}\narch:\n  nodes:\n  - !Compute {name: MAC, actions: "
      "[{name: compute, energy: 1, throughput: E}]}\n";
  EXPECT_EQ(mistake_of(text), "throughput cannot be in J: 'E'");
}

TEST(ArchReader, WarnsOfKindsThatAreNeverCalled) {
  const auto specs = load_specs_from_text(
      {{"arch.yaml",
        "arch:\n  nodes:\n  - !Compute {name: ALU, actions: [{name: compute, energy: 1, "
        "throughput: 1}, {name: exp, energy: 10, throughput: 1}]}\n"}},
      {});
  ASSERT_TRUE(specs);
  ASSERT_EQ(specs->warnings.size(), 1u);
  EXPECT_EQ(specs->warnings.front().message,
            "'exp' of 'ALU' is never called: its action 'compute' stands for all that an iteration "
            "point computes");
}

TEST(ArchReader, WarnsOfAMemoryCalledAsATensorIs) {
  const std::string actions =
      "size: inf, actions: [{name: read, energy: 1, throughput: 1}, "
      "{name: write, energy: 1, throughput: 1}]";
  const auto warnings_of = [&](const std::string& inner, const std::string& innermost) {
    const auto specs = load_specs_from_text(
        {{"all.yaml",
          "workload:\n  rank_sizes: {M: 2}\n  bits_per_value: {All: 8}\n  einsums: "
          "['Z[m] = A[m] * W[m]']\narch:\n  nodes:\n  - !Memory {name: D, tensors: {keep: All}, " +
              actions + "}\n  - !Memory {name: " + inner + ", tensors: {may_keep: All}, " +
              actions + "}\n  - !Memory {name: " + innermost + ", tensors: {keep: W}, " + actions +
              "}\n" + kCompute}},
        {});
    return specs ? specs->warnings : Diagnostics{{.message = "no specs"}};
  };
  EXPECT_TRUE(warnings_of("Buffer", "W").empty());  // further in: the tensor is meant
  const Diagnostics warnings = warnings_of("W", "Buffer");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front().message, "'W' is the memory here, and what it holds, not the tensor");
  EXPECT_EQ(warnings.front().location.line, 9);
}

TEST(ArchReader, ReadsNetworks) {
  const Arch arch = arch_of(
      "arch:\n  nodes:\n  - !Network {name: NoC, topology: torus, channel_width: 256, "
      "link_bandwidth: 64 GB/s, router_latency: 5 ns, hop_energy: 0.5 pJ/bit, "
      "bits_per_hop_energy: 16}\n" +
      kCompute);
  const Network& network = std::get<Network>(arch.components[0].kind);
  EXPECT_EQ(network.topology, Topology::kTorus);
  EXPECT_EQ(network.channel_width_bits, 256);
  EXPECT_EQ(network.link_bandwidth, 512e9);
  EXPECT_EQ(network.router_latency_s, 5e-9);
  EXPECT_EQ(network.hop_energy_j, 16 * 0.5e-12);
}

}  // namespace
}  // namespace sluice
