#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {

/// What a class of the component library (`component_class`, docs/components.md) says about one
/// component, its attributes worked in.
struct ClassNumbers {
  struct ActionNumbers {
    std::string name;
    std::optional<Quantity> energy;      ///< J, or J/bit
    std::optional<Quantity> throughput;  ///< 1/s, or bit/s
  };
  std::vector<ActionNumbers> actions;  ///< in the order of the class
  std::optional<double> area_m2;
  std::optional<double> leak_power_w;
  std::optional<Quantity> hop_energy;  ///< networks: J, or J/bit
  std::string origin;                  ///< class, attributes and source, as one text

  const ActionNumbers* find(const std::string& action) const;
};

/// Reads `component_class` and `component_attributes` of a component; nothing where there is no
/// class, or after a mistake.
std::optional<ClassNumbers> read_component_class(ReadContext& context, MapReader& component,
                                                 std::optional<double> clock_hz);

}  // namespace sluice
