#pragma once

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Evaluates the `variables:` section (null: none) with the values of `--set` over it, into the
/// context.
void read_variables(ReadContext& context, const YamlNode* node);

}  // namespace sluice
