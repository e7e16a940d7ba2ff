#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/arch/arch.h"

namespace sluice {

/// An expression over an Einsum's tensors, kept with its place until the workload is known.
struct ArchExpression {
  enum class Type { kTruth, kNumber, kTensorSet };
  Type type = Type::kNumber;
  Expression expression;
  const YamlNode* place = nullptr;
  const char* what = "";
  std::string component;
  bool over_actions = false;       ///< total_latency
  bool only_where_needed = false;  ///< a width for some tensors: evaluated where they are used
  bool knows_memories = false;     ///< what memories further out hold: rules of what a memory keeps
};

bool is_component_tag(const std::string& tag);

/// One tagged node of an architecture, without its fork. Nothing if there was a mistake.
std::optional<Component> read_component(ReadContext& context, const YamlNode& node,
                                        std::optional<double> clock_hz,
                                        std::vector<ArchExpression>& expressions);

}  // namespace sluice
