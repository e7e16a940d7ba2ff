#pragma once

#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// The documents of one file. Mistakes of YAML itself, repeated keys, and whatever exceeds the
/// limits of depth and size are reported to the context; the documents before them are returned.
std::vector<YamlPointer> parse_yaml(ReadContext& context, std::size_t file);

}  // namespace sluice
