#pragma once

#include <sluice/frontend/component_class.h>

#include <cmath>

/// Registers: an access costs more the more of them there are, and the more ports they have.
class RegisterFile final : public sluice::ComponentClass {
 public:
  std::string name() const override { return "RegisterFile"; }
  bool fits(const std::string& kind) const override { return kind == "Memory"; }
  std::string source() const override { return "an example: 1 fJ/bit × √(bits) × ports"; }
  std::vector<sluice::ComponentAttribute> attributes() const override {
    return {{.name = "size", .unit = "bit", .from = "size", .minimum = 1},
            {.name = "ports", .usual = 1, .minimum = 1, .maximum = 4}};
  }
  sluice::ComponentNumbers numbers(const std::map<std::string, double>& values) const override {
    const double energy = 1e-15 * std::sqrt(values.at("size")) * values.at("ports");
    return {.actions = {{.name = "read", .energy_j_per_bit = energy},
                        {.name = "write", .energy_j_per_bit = energy}},
            .area_m2 = 1e-12 * values.at("size")};
  }
};
