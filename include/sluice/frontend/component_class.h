#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/support/registry.h"

namespace sluice {

/// A number that a class asks a component for (`component_attributes`).
struct ComponentAttribute {
  std::string name;
  std::string unit;             ///< bit, J, s, 1/s, bit/s, W, m2; empty: a pure number
  std::optional<double> usual;  ///< where the component gives none
  std::string from;             ///< key of the component that is asked before `usual`: `size`
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
};

/// What a class says of one component. What is left out the component must say itself.
struct ComponentNumbers {
  struct OfAction {
    std::string name;  ///< read, write, compute, or an operation kind
    std::optional<double> energy_j;
    std::optional<double> energy_j_per_bit;  ///< instead of energy_j
    std::optional<double> throughput;        ///< actions/s; infinity: takes no time
    std::optional<double> throughput_bits;   ///< bit/s, instead of throughput
  };
  std::vector<OfAction> actions;
  std::optional<double> area_m2;               ///< of one instance
  std::optional<double> leak_power_w;          ///< of one instance
  std::optional<double> hop_energy_j_per_bit;  ///< networks
};

/// A component class in code: a formula for energies, area and leakage. (Tables and sums are
/// shorter in a YAML file beside the architecture: docs/components.md. How to write one in code:
/// docs/extending.md.)
class ComponentClass {
 public:
  virtual ~ComponentClass() = default;
  /// As architectures say it: `component_class: RegisterFile`.
  virtual std::string name() const = 0;
  /// Whether it knows components of this kind: Memory, Toll, Compute, Network, Container.
  virtual bool fits(const std::string& kind) const = 0;
  /// Publication, technology and method: what `sluice map --sources` shows.
  virtual std::string source() const = 0;
  virtual std::vector<ComponentAttribute> attributes() const { return {}; }
  /// `values`: of every attribute, within its limits, in its unit. Numbers below 0 and those that
  /// are not finite (but throughputs) become errors at the component's place.
  virtual ComponentNumbers numbers(const std::map<std::string, double>& values) const = 0;
};

/// Classes in code; they go before files of the same name.
using ComponentClasses = Registry<ComponentClass>;

}  // namespace sluice
