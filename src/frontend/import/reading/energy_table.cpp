#include "frontend/import/reading/energy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "frontend/arch/dimensions.h"
#include "frontend/yaml/values.h"

namespace sluice::timeloop {
namespace {

bool is_leakage(const std::string& action) { return action == "leak" || action == "leakage"; }

class EnergyReader {
 public:
  EnergyReader(ImportContext& context, const std::vector<std::string>& names)
      : context_(context), names_(names) {}

  EnergyTable read(const YamlNode& document) {
    if (!document.is_map()) {
      context_.read.error(document,
                          fmt::format("energies must be a map, not {}", describe(document)),
                          "as in 'GLB: {read: 29.6 pJ, write: 29.6 pJ}'");
      return {};
    }
    const YamlNode* root = &document;
    for (const char* key : {"ERT", "ERT_summary"})
      if (const YamlNode* found = document.find(key)) root = found;
    const YamlNode* tables = root->find("tables");
    if (tables == nullptr) tables = root->find("table_summary");
    if (tables != nullptr) {
      read_tables(*tables);
    } else if (const YamlNode* levels = root->find("levels"); levels && levels->is_sequence()) {
      for (const YamlPointer& level : levels->items) read_level(*level);
    } else {
      root = &of_architecture(*root);
      for (const YamlEntry& entry : root->entries) {
        if (!entry.value->is_map()) continue;
        if (entry.value->find("actions") != nullptr)
          read_component(entry.key->text, *entry.value);
        else
          read_actions(entry.key->text, *entry.value);
      }
    }
    if (table_.empty())
      context_.read.error(document, "there are no energies here",
                          "as in 'GLB: {read: 29.6 pJ, write: 29.6 pJ}'");
    return std::move(table_);
  }

 private:
  /// Where components of several architectures stand in one file, those of the one that is read.
  const YamlNode& of_architecture(const YamlNode& root) {
    std::vector<std::string> known;
    const YamlNode* chosen = nullptr;
    for (const YamlEntry& entry : root.entries) {
      if (entry.value->entries.empty() ||
          entry.value->entries.front().value->find("actions") == nullptr)
        continue;
      known.push_back(entry.key->text);
      if (std::find(names_.begin(), names_.end(), entry.key->text) != names_.end())
        chosen = entry.value.get();
    }
    if (known.empty()) return root;
    if (chosen == nullptr)
      context_.read.error(root, "these are energies of other architectures",
                          fmt::format("it has {}; the architecture is {}", fmt::join(known, ", "),
                                      fmt::join(names_, " or ")));
    return chosen == nullptr ? root : *chosen;
  }

  /// `{area, leak_power, actions: {read: {energy, throughput}}}`, in SI units.
  void read_component(const std::string& component, const YamlNode& numbers) {
    for (const YamlEntry& entry : numbers.entries) {
      const std::string& key = entry.key->text;
      if (key == "area") {
        if (const auto area = number(*entry.value, {.what = "an area"}))
          table_.add_area(component, *area);
      } else if (key == "leak_power") {
        if (const auto power = number(*entry.value, {.what = "leakage", .dimensions = {kWatt}}))
          table_.add_leakage(component, *power, false, *entry.value);
      } else if (key == "actions") {
        for (const YamlEntry& action : entry.value->entries)
          read_action(component, action.key->text, *action.value);
      } else {
        context_.note(*entry.key,
                      fmt::format("'{}' of {} has no counterpart and is left out", key, component));
      }
    }
  }

  void read_action(const std::string& component, const std::string& action,
                   const YamlNode& numbers) {
    if (const YamlNode* energy = numbers.find("energy"))
      if (const auto value = number(*energy, {.what = "an energy", .dimensions = {kJoule}}))
        table_.add(component, action, *value, *energy);
    const YamlNode* throughput = numbers.find("throughput");
    if (throughput == nullptr) return;
    if (throughput->text == "Infinity" || throughput->text == "inf" || throughput->text == ".inf")
      table_.add_throughput(component, action, std::numeric_limits<double>::infinity());
    else if (const auto value =
                 number(*throughput, {.what = "a throughput", .dimensions = {kPerSecond}}))
      table_.add_throughput(component, action, *value);
  }

  std::optional<double> number(const YamlNode& node, const QuantityRule& rule) {
    const auto value = read_quantity(context_.read, &node, rule);
    return value ? std::optional(value->value) : std::nullopt;
  }

  void read_tables(const YamlNode& tables) {
    if (tables.is_map())
      for (const YamlEntry& entry : tables.entries) read_actions(entry.key->text, *entry.value);
    for (const YamlPointer& table : tables.items) {
      const YamlNode* name = table->find("name");
      const YamlNode* actions = table->find("actions");
      if (name == nullptr || actions == nullptr) {
        context_.read.error(*table, "a table of energies needs the keys 'name' and 'actions'");
        continue;
      }
      read_actions(name->text, *actions);
    }
  }

  /// A map of energies, or a list of `{name, energy}`. Of several energies of one action, by
  /// arguments, the largest counts.
  void read_actions(const std::string& component, const YamlNode& actions) {
    for (const YamlEntry& entry : actions.entries) {
      if (entry.value->is_scalar()) {
        add(component, entry.key->text, *entry.value);
      } else if (const YamlNode* energy = entry.value->find("energy")) {
        add(component, entry.key->text, *energy);
      } else {
        for (const YamlPointer& item : entry.value->items)
          if (const YamlNode* of_item = item->find("energy"))
            add(component, entry.key->text, *of_item);
      }
    }
    for (const YamlPointer& action : actions.items) {
      const YamlNode* name = action->find("name");
      const YamlNode* energy = action->find("energy");
      if (name == nullptr || energy == nullptr)
        context_.read.error(*action, "an action needs the keys 'name' and 'energy'");
      else
        add(component, name->text, *energy);
    }
  }

  /// One level of the statistics of a run: an access costs the same either way.
  void read_level(const YamlNode& level) {
    const YamlNode* name = level.find("name");
    const YamlNode* top = level.find("top");
    if (name == nullptr || top == nullptr) return;
    if (const YamlNode* energy = top->find("Vector access energy"))
      add(name->text, "access", *energy);
    if (const YamlNode* energy = top->find("Compute energy")) add(name->text, "compute", *energy);
  }

  void add(const std::string& component, const std::string& action, const YamlNode& node) {
    QuantityRule rule{.what = "an energy", .dimensions = {kJoule}};
    if (is_leakage(action)) rule = {.what = "leakage", .dimensions = {kJoule, kWatt}};
    const auto number = read_quantity(context_.read, &node, rule);
    if (!number) return;
    const double value = number->dimension ? number->value : number->value * kPico;
    if (is_leakage(action))
      table_.add_leakage(last_name(component), value, number->dimension != kWatt, node);
    else
      table_.add(last_name(component), action, value, node);
  }

  /// `system.chip.PE[0..255].RF(1..1)` is RF.
  static std::string last_name(const std::string& path) {
    std::string name;
    int depth = 0;
    for (const char c : path) {
      if (c == '[' || c == '(') ++depth;
      if (depth == 0) name = c == '.' ? "" : name + c;
      if (c == ']' || c == ')') --depth;
    }
    return name;
  }

  ImportContext& context_;
  const std::vector<std::string>& names_;
  EnergyTable table_;
};

}  // namespace

void EnergyTable::add(const std::string& component, const std::string& action, double energy_j,
                      const YamlNode& place) {
  Number& known = components_[component].actions[action];
  if (known.place == nullptr || energy_j > known.value) known = {energy_j, &place};
}

void EnergyTable::add_leakage(const std::string& component, double value, bool per_cycle,
                              const YamlNode& place) {
  std::optional<Number>& known = components_[component].leakage;
  if (!known || value > known->value) known = {value, &place, per_cycle};
}

std::optional<double> EnergyTable::energy(const std::string& component,
                                          const std::vector<std::string>& actions) const {
  const auto found = components_.find(component);
  std::vector<std::string>& missed = missed_[component];
  missed.insert(missed.end(), actions.begin(), actions.end());
  if (found == components_.end()) return std::nullopt;
  found->second.is_known = true;
  std::optional<double> energy_j;
  for (const std::string& action : actions) {
    const auto number = found->second.actions.find(action);
    if (number == found->second.actions.end()) continue;
    if (!energy_j) energy_j = number->second.value;
    if (number->second.value == *energy_j) number->second.is_used = true;
  }
  if (energy_j) missed.resize(missed.size() - actions.size());
  return energy_j;
}

std::optional<EnergyTable::Leakage> EnergyTable::leakage(const std::string& component,
                                                         std::optional<double> cycle_s) const {
  const auto found = components_.find(component);
  if (found == components_.end() || !found->second.leakage) return std::nullopt;
  const Number& number = *found->second.leakage;
  found->second.is_known = number.is_used = true;
  if (!number.per_cycle) return Leakage{number.value, number.place};
  if (!cycle_s) return Leakage{{}, number.place};
  return Leakage{number.value / *cycle_s, number.place};
}

/// What was asked for in vain may be misspelt in the table.
std::string EnergyTable::hint_for(const std::string& component, bool is_known,
                                  const std::vector<std::string>& unused) const {
  if (!is_known) {
    std::vector<std::string> names;
    for (const auto& [name, actions] : missed_)
      if (!components_.contains(name)) names.push_back(name);
    return did_you_mean(component, names);
  }
  const auto missed = missed_.find(component);
  for (const std::string& action : unused)
    if (missed != missed_.end())
      if (std::string hint = did_you_mean(action, missed->second); !hint.empty()) return hint;
  return {};
}

namespace {

std::string left_out_text(const std::string& component, bool is_known,
                          const std::vector<std::string>& unused) {
  if (is_known)
    return fmt::format("the energies of {} for {} have no counterpart and are left out", component,
                       fmt::join(unused, ", "));
  if (component == "wire")
    return "Timeloop takes the energies of 'wire' for the wires of all networks: they are left "
           "out, and networks cost what energy-per-hop says";
  return fmt::format("the architecture has no component {}: its energies are left out", component);
}

}  // namespace

void EnergyTable::note_unused(ImportContext& context) const {
  for (const auto& [name, component] : components_) {
    std::vector<std::string> unused;
    const YamlNode* place = nullptr;
    const auto look_at = [&](const std::string& action, const Number& number) {
      if (number.is_used || number.value == 0) return;
      unused.push_back(action);
      if (place == nullptr) place = number.place;
    };
    for (const auto& [action, number] : component.actions) look_at(action, number);
    if (component.leakage) look_at("leak", *component.leakage);
    if (place == nullptr) continue;
    context.note_or_warn(*place, left_out_text(name, component.is_known, unused),
                         hint_for(name, component.is_known, unused));
  }
}

std::optional<double> EnergyTable::throughput(const std::string& component,
                                              const std::string& action) const {
  const auto found = components_.find(component);
  if (found == components_.end()) return std::nullopt;
  const auto throughput = found->second.throughputs.find(action);
  if (throughput == found->second.throughputs.end()) return std::nullopt;
  return throughput->second;
}

std::optional<double> EnergyTable::area(const std::string& component) const {
  const auto found = components_.find(component);
  return found == components_.end() ? std::nullopt : found->second.area_m2;
}

EnergyTable read_energy_table(ImportContext& context, const YamlNode& document,
                              const std::vector<std::string>& names) {
  return EnergyReader(context, names).read(document);
}

}  // namespace sluice::timeloop
