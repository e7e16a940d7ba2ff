#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/import/reading/import_context.h"

namespace sluice::timeloop {

/// Energies of these files are in pJ unless they have a unit.
inline constexpr double kPico = 1e-12;

/// Energies per action, by component and action, and which of them somebody asked for; see
/// docs/importing.md for the forms.
class EnergyTable {
 public:
  /// Of several energies of one action, by arguments, the largest counts.
  void add(const std::string& component, const std::string& action, double energy_j,
           const YamlNode& place);
  /// Leakage in W, or in J per cycle.
  void add_leakage(const std::string& component, double value, bool per_cycle,
                   const YamlNode& place);

  /// Actions a second, and area in m² (of one instance).
  void add_throughput(const std::string& component, const std::string& action, double throughput) {
    components_[component].throughputs[action] = throughput;
  }
  void add_area(const std::string& component, double area_m2) {
    components_[component].area_m2 = area_m2;
  }

  bool empty() const { return components_.empty(); }
  /// Energy in J of the first of `actions` that the table has for a component.
  std::optional<double> energy(const std::string& component,
                               const std::vector<std::string>& actions) const;
  /// In W; `cycle_s` is needed where the table has energies per cycle.
  struct Leakage {
    std::optional<double> power_w;  ///< none: the length of a cycle is needed and not known
    const YamlNode* place = nullptr;
  };
  std::optional<Leakage> leakage(const std::string& component, std::optional<double> cycle_s) const;

  std::optional<double> throughput(const std::string& component, const std::string& action) const;
  std::optional<double> area(const std::string& component) const;

  /// Notes what nobody asked for; numbers of 0 are nothing to miss.
  void note_unused(ImportContext& context) const;

 private:
  struct Number {
    double value = 0;
    const YamlNode* place = nullptr;
    bool per_cycle = false;  ///< leakage
    mutable bool is_used = false;
  };
  struct Component {
    std::map<std::string, Number> actions;
    std::map<std::string, double> throughputs;
    std::optional<double> area_m2;
    std::optional<Number> leakage;
    mutable bool is_known = false;  ///< somebody asked for something of it
  };
  std::string hint_for(const std::string& component, bool is_known,
                       const std::vector<std::string>& unused) const;

  std::map<std::string, Component> components_;
  /// Actions that were asked for in vain, by component.
  mutable std::map<std::string, std::vector<std::string>> missed_;
};

/// Reads energies per action, in pJ where no unit is given. Forms: Accelergy's `ERT: {tables: […]}`
/// and `ERT_summary`, a map `COMPONENT: {ACTION: energy}`, and the levels of a Timeloop run. An
/// action `leak` or `leakage` is an energy per cycle (pJ, or with a unit), or a power. A component
/// with `actions: {ACTION: {energy, throughput}}`, `area`, `leak_power` has SI units. Tables of
/// several architectures may stand in one file, by name: the one that `names` has counts.
EnergyTable read_energy_table(ImportContext& context, const YamlNode& document,
                              const std::vector<std::string>& names);

}  // namespace sluice::timeloop
