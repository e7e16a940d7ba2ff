// Component classes in code.
#include <gmock/gmock.h>

#include <cmath>

#include "sluice/frontend/component_class.h"
#include "unit/frontend/loading.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

/// 2 fJ per bit and read, times the square root of the KiB; writes take twice as much.
class Scratchpad final : public ComponentClass {
 public:
  explicit Scratchpad(double sign = 1) : sign_(sign) {}
  std::string name() const override { return "Scratchpad"; }
  bool fits(const std::string& kind) const override { return kind == "Memory"; }
  std::string source() const override { return "a test"; }
  std::vector<ComponentAttribute> attributes() const override {
    return {{.name = "capacity", .unit = "bit", .from = "size", .maximum = 8192 * 64.0},
            {.name = "banks", .usual = 1, .minimum = 1}};
  }
  ComponentNumbers numbers(const std::map<std::string, double>& values) const override {
    const double energy =
        2e-15 * std::sqrt(values.at("capacity") / 8192 / values.at("banks")) * sign_;
    return {.actions = {{.name = "read", .energy_j_per_bit = energy, .throughput_bits = 1e9},
                        {.name = "write", .energy_j_per_bit = 2 * energy, .throughput_bits = 1e9}},
            .area_m2 = values.at("capacity") * 1e-13};
  }

 private:
  double sign_;
};

LoadOptions with_scratchpad(double sign = 1) {
  LoadOptions options;
  options.component_classes.emplace<Scratchpad>(sign);
  return options;
}

std::string arch_with(const std::string& keys) {
  return "arch:\n  nodes:\n  - !Memory {name: A, " + keys +
         "}\n  - !Compute {name: Last, actions: [{name: compute, energy: 1 pJ, throughput: "
         "inf}]}\n";
}

// 4 KiB: 2 fJ · √4 a bit; 32768 bit · 1e-13 m².
TEST(CodedComponentClass, GivesNumbersByItsFormula) {
  const Specs specs =
      specs_of(arch_with("size: 4 KiB, component_class: Scratchpad"), with_scratchpad());
  ASSERT_TRUE(specs.arch);
  const Component& memory = specs.arch->components.front();
  ASSERT_EQ(memory.actions.size(), 2u);
  EXPECT_DOUBLE_EQ(memory.actions[0].energy_j, 4e-15);
  EXPECT_DOUBLE_EQ(memory.actions[1].energy_j, 8e-15);
  EXPECT_DOUBLE_EQ(memory.actions[0].throughput, 1e9);
  EXPECT_DOUBLE_EQ(*memory.area_m2, 32768e-13);
  ASSERT_FALSE(specs.sources.empty());
  EXPECT_EQ(specs.sources.front().source, "Scratchpad(capacity 4 KiB, banks 1): a test");
}

TEST(CodedComponentClass, AsksForItsAttributes) {
  const Specs specs = specs_of(arch_with("size: 4 KiB, component_class: Scratchpad, "
                                         "component_attributes: {banks: 4, capacity: 16 KiB}"),
                               with_scratchpad());
  EXPECT_DOUBLE_EQ(specs.arch->components.front().actions[0].energy_j, 4e-15);
  const auto mistake = [](const std::string& keys) {
    return mistake_of(arch_with("component_class: Scratchpad, " + keys), with_scratchpad());
  };
  EXPECT_EQ(mistake("size: 4 KiB, component_attributes: {bank: 4}"),
            "component_attributes has no key 'bank'");
  EXPECT_EQ(mistake("size: 128 KiB"),
            "'capacity' is 128 KiB: Scratchpad has numbers from 0 bit to 64 KiB");
  EXPECT_THAT(mistake("size: 4 KiB, component_attributes: {banks: 0}"), HasSubstr("'banks' is 0"));
}

TEST(CodedComponentClass, IsForItsKindsOfNodes) {
  EXPECT_EQ(mistake_of("arch:\n  nodes:\n  - !Compute {name: A, component_class: Scratchpad, "
                       "component_attributes: {capacity: 8}, actions: [{name: compute, energy: 1, "
                       "throughput: 1}]}\n",
                       with_scratchpad()),
            "Scratchpad is no class of a !Compute");
}

TEST(CodedComponentClass, WithNumbersBelowZeroIsAMistake) {
  const auto specs = load_specs_from_text(
      {{"test.yaml", arch_with("size: 4 KiB, component_class: Scratchpad")}}, with_scratchpad(-1));
  ASSERT_FALSE(specs);
  EXPECT_EQ(specs.error().front().message,
            "Scratchpad(capacity 4 KiB, banks 1) gives !Memory the energy -4e-15");
  EXPECT_EQ(specs.error().front().location.line, 3);
}

TEST(CodedComponentClass, IsNamedWhereAnotherIsMisspelt) {
  const auto specs = load_specs_from_text(
      {{"test.yaml", arch_with("size: 4 KiB, component_class: Scratchpat")}}, with_scratchpad());
  ASSERT_FALSE(specs);
  EXPECT_EQ(specs.error().front().hint, "did you mean 'Scratchpad'?");
}

}  // namespace
}  // namespace sluice
