#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/sweep/sweep.h"

namespace sluice {

// Readers of what files of sweeps and designs have in common. Each reports what is wrong.

/// `{NAME: VALUE, …}`; a list of values becomes one text with commas. A null node gives nothing.
SweepSettings read_settings(ReadContext& context, const YamlNode* node);

/// `{NAME: VALUES, …}`: ranges with steps as texts, or lists.
std::vector<VariedField> read_grid(ReadContext& context, const YamlNode& node);

/// Reports fields of a grid to which `set` (null: none) gives one value.
void refuse_varied_settings(ReadContext& context, const YamlNode& grid, const YamlNode* set);

/// Search options by name.
std::map<std::string, std::string> read_search_options(ReadContext& context, const YamlNode& node);

/// The value of an outcome, whose mistakes become some at the node.
template <class Value>
std::optional<Value> value_at(ReadContext& context, const YamlNode& node, Result<Value> outcome) {
  if (outcome) return std::move(*outcome);
  for (const Diagnostic& mistake : outcome.error())
    context.error(node, mistake.message, mistake.hint);
  return std::nullopt;
}

}  // namespace sluice
