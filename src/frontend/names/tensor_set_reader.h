#pragma once

#include <optional>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// A set of tensors: an expression (`A | Outputs`), a set as people write it (`{A, B}`, which YAML
/// takes for a map) or a list of sets. Nothing for a null node, silently.
std::optional<Expression> read_tensor_set(ReadContext& context, const YamlNode* node,
                                          const char* what);

/// The parts of such a set: the members of `{A, B}` or of a list, or the node itself. Empty where
/// it is none of these.
std::vector<YamlPointer> tensor_set_parts(const YamlNode& node);

}  // namespace sluice
