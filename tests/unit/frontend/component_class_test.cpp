// Classes of the component library: numbers of library/components, by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "support/folders.h"
#include "support/run_program.h"
#include "unit/frontend/loading.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

LoadOptions with_library() {
  LoadOptions options;
  options.library_dirs = {(testing::repository_dir() / "library").string()};
  return options;
}

Specs specs_with(const std::string& component) {
  return specs_of("arch:\n  clock: 1 GHz\n  nodes:\n  - " + component +
                      "\n  - !Compute {name: Last, actions: [{name: compute, energy: 1 pJ, "
                      "throughput: 1 GHz}]}\n",
                  with_library());
}

Component component_of(const std::string& component) {
  const Specs specs = specs_with(component);
  return specs.arch ? specs.arch->components.front() : Component{};
}

/// A memory of a class with any bandwidth.
Component memory_of(const std::string& keys) {
  return component_of("!Memory {name: A, " + keys +
                      ", actions: [{name: read, throughput: 8 GB/s}, {name: write, throughput: 8 "
                      "GB/s, bits_per_action: 8}]}");
}

TEST(ComponentClass, GivesTheNumbersOfATableRow) {
  const Component sram =
      memory_of("size: 32 KiB, component_class: SRAM, component_attributes: {width: 256}");
  EXPECT_DOUBLE_EQ(sram.actions.at(0).energy_j, 12.238e-12 / 256);
  EXPECT_DOUBLE_EQ(sram.actions.at(1).energy_j / sram.actions.at(0).energy_j,
                   8 * 22.461 / 12.238);  // 8 bits an action
  EXPECT_EQ(sram.actions.at(0).throughput, 8e9 * 8);
}

TEST(ComponentClass, FollowsThePowerLawBetweenRows) {
  const Component sram =
      memory_of("size: 48 KiB, component_class: SRAM, component_attributes: {width: 256}");
  // 32 KiB: 12.238 pJ, 64 KiB: 23.664 pJ; 48 KiB is log2(1.5) of the way.
  EXPECT_NEAR(sram.actions.at(0).energy_j * 256e12,
              12.238 * std::pow(23.664 / 12.238, std::log2(1.5)), 1e-9);
}

TEST(ComponentClass, WorksOutDramFromCurrents) {
  const Component dram = memory_of("size: inf, component_class: DDR4");
  // Burst (168 - 56) mA · 1.2 V · 2.5 ns / 64 bit = 5.25 pJ; row (57 · 46.25 - 56 · 32.5 - 37 ·
  // 13.75) mA ns · 1.2 V = 369 pJ for 8,192 bits.
  EXPECT_NEAR(dram.actions.at(0).energy_j * 1e12, 5.25 + 369.0 / 8192, 1e-9);
  // 8 · (56 mA · 1.2 V + 10 mA · 1.2 V · 560 / 12480)
  EXPECT_NEAR(dram.leak_power_w, 8 * (67.2e-3 + 12e-3 * 560 / 12480), 1e-9);
}

TEST(ComponentClass, ScalesToOtherTechnologies) {
  const auto mac = [](const std::string& attributes) {
    return component_of("!Compute {name: A, component_class: FPMAC, component_attributes: " +
                        attributes + ", actions: [{name: compute, throughput: 1 GHz}]}");
  };
  EXPECT_DOUBLE_EQ(mac("{bits: 16}").actions.at(0).energy_j, 1.5e-12);
  EXPECT_DOUBLE_EQ(mac("{bits: 32}").actions.at(0).energy_j, 4.6e-12);
  // At 0.9 V: 32 nm 0.9559 V² - 0.7823 V + 0.471 = 0.541209, 45 nm 0.84433.
  EXPECT_NEAR(mac("{technology: 32}").actions.at(0).energy_j, 1.5e-12 * 0.541209 / 0.84433, 1e-18);
  EXPECT_NEAR(*mac("{technology: 32}").area_m2, 3000e-12 * 0.46, 1e-18);
}

TEST(ComponentClass, GivesAllActionsWhereNoneIsListed) {
  const Component simd = component_of(
      "!Compute {name: A, component_class: SIMD, component_attributes: {lanes: 4, clock: 1 GHz}}");
  ASSERT_EQ(simd.actions.size(), 23U);
  const auto exp = std::find_if(simd.actions.begin(), simd.actions.end(),
                                [](const Action& action) { return action.name == "exp"; });
  EXPECT_DOUBLE_EQ(exp->energy_j, 8 * 1.5e-12);
  EXPECT_DOUBLE_EQ(exp->throughput, 4e9 / 8);
}

TEST(ComponentClass, GivesTheEnergyOfAHop) {
  const Specs specs = specs_with(
      "!Network {name: A, topology: mesh, link_bandwidth: 1 GB/s, component_class: MeshLink, "
      "component_attributes: {length: 2}}\n  - !Container {name: C, spatial: [{name: x, fanout: "
      "2}]}");
  const auto& network = std::get<Network>(specs.arch->components.at(0).kind);
  // (2 · 35.4455 + 4.97276 + 0.695625) pJ / 128 bit + 2 mm · 0.12 pJ/bit/mm
  EXPECT_NEAR(network.hop_energy_j * 1e12, 76.559385 / 128 + 0.24, 1e-9);
}

TEST(ComponentClass, YieldsToWhatTheSpecGives) {
  const Component mac = component_of(
      "!Compute {name: A, component_class: SystolicPE, area: 1 um2, leak_power: 0, actions: "
      "[{name: compute, energy: 5 pJ}]}");
  EXPECT_EQ(mac.actions.at(0).energy_j, 5e-12);
  EXPECT_EQ(mac.actions.at(0).throughput, 1e9);
  EXPECT_EQ(mac.area_m2, 1e-12);
  EXPECT_EQ(mac.leak_power_w, 0);
}

TEST(ComponentClass, RefusesLeakageAmongTheActions) {
  const testing::TemporaryFolder folder;
  folder.write(
      "Leaky.yaml",
      "component:\n  nodes: [Compute]\n  source: none\n"
      "  actions:\n    compute: {energy: 1 pJ, throughput: 1 GHz}\n    leak: {energy: 1 pJ}\n");
  const std::string arch =
      folder.write("arch.yaml", "arch: {nodes: [!Compute {name: A, component_class: Leaky}]}\n");
  const auto specs = load_specs({arch}, {});
  ASSERT_FALSE(specs);
  EXPECT_EQ(specs.error().at(0).message, "no component has an action 'leak'");
  EXPECT_EQ(specs.error().at(0).hint, "leakage is the key 'leak_power' of the class, in W");
}

TEST(ComponentClass, IsNamedAsTheSourceOfItsNumbersAlone) {
  const Specs specs = specs_with(
      "!Compute {name: A, component_class: IntMAC, area: 1 um2, actions: [{name: compute, "
      "throughput: 1 GHz}]}");
  ASSERT_EQ(specs.sources.size(), 1U);
  EXPECT_EQ(specs.sources[0].component, "A");
  EXPECT_EQ(specs.sources[0].number, "compute");
  EXPECT_THAT(specs.sources[0].source, HasSubstr("IntMAC(bits 8, technology 45): Horowitz"));
}

TEST(ComponentClass, KeepsItsNamesApartFromThoseOfTheSpecs) {
  const Specs specs = specs_of(
      "variables: {factor: 3, bits: 99, WORDS: 2}\n"
      "arch:\n  nodes:\n"
      "  - !Compute {name: A, component_class: IntMAC, component_attributes: {bits: 4 * WORDS}, "
      "actions: [{name: compute, throughput: 1 GHz * factor}]}\n",
      with_library());
  EXPECT_DOUBLE_EQ(specs.arch->components.at(0).actions.at(0).energy_j, 0.3e-12);
  EXPECT_EQ(specs.arch->components.at(0).actions.at(0).throughput, 3e9);
}

}  // namespace
}  // namespace sluice
