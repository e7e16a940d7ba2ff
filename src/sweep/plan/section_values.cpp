#include "section_values.h"

#include <fmt/format.h>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"
#include "sluice/mapper/options_table.h"

namespace sluice {
namespace {

/// A scalar as text, or a list of them joined by commas.
std::optional<std::string> read_values(ReadContext& context, const YamlNode& node) {
  if (node.is_scalar()) return node.text;
  std::string text;
  for (const YamlPointer& item : node.items) {
    const auto value = read_text(context, item.get(), "a value");
    if (!value) return std::nullopt;
    text += (text.empty() ? "" : ",") + *value;
  }
  if (!text.empty()) return text;
  context.error(node, fmt::format("expected a value or a list of values, not {}", describe(node)));
  return std::nullopt;
}

}  // namespace

SweepSettings read_settings(ReadContext& context, const YamlNode* node) {
  SweepSettings settings;
  if (node == nullptr || !MapReader(context, *node, "settings").is_map()) return settings;
  for (const YamlEntry& entry : node->entries)
    if (const auto text = read_values(context, *entry.value))
      settings.emplace_back(entry.key->text, *text);
  return settings;
}

std::vector<VariedField> read_grid(ReadContext& context, const YamlNode& node) {
  std::vector<VariedField> grid;
  if (!MapReader(context, node, "a grid").is_map()) return grid;
  for (const YamlEntry& entry : node.entries) {
    VariedField field{entry.key->text, {}, context.place_of(*entry.key).location};
    if (entry.value->is_sequence()) {
      for (const YamlPointer& item : entry.value->items)
        if (const auto text = read_text(context, item.get(), "a value"))
          field.values.push_back(*text);
      if (field.values.empty()) context.error(*entry.value, "the list has no values");
    } else if (const auto text = read_text(context, entry.value.get(), "values")) {
      if (auto values = value_at(context, *entry.value, varied_values(*text, *text)))
        field.values = std::move(*values);
    }
    grid.push_back(std::move(field));
  }
  return grid;
}

void refuse_varied_settings(ReadContext& context, const YamlNode& grid, const YamlNode* set) {
  if (set == nullptr || !set->is_map()) return;
  for (const YamlEntry& entry : grid.entries)
    if (const YamlNode* value = set->find(entry.key->text))
      context.error(*entry.key,
                    fmt::format("`{}` varies, and `set` gives it one value{}", entry.key->text,
                                value->is_scalar() ? ", " + value->text : ""),
                    "leave out one of them");
}

std::map<std::string, std::string> read_search_options(ReadContext& context, const YamlNode& node) {
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : read_settings(context, &node)) {
    if (find_mapper_option(name) != nullptr) {
      options[name] = value;
      continue;
    }
    std::vector<std::string> known;
    for (const MapperOption& option : mapper_option_table()) known.push_back(option.name);
    context.error(node, fmt::format("there is no search option '{}'", name),
                  did_you_mean(name, known, "docs/options.md lists them"));
  }
  return options;
}

}  // namespace sluice
