#pragma once

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/frontend/origins.h"
#include "sluice/mapping/mapping.h"

namespace sluice {

/// A `mapping:` section and the `plan:` beside it (which may be null), with the names of one
/// workload and architecture. Nothing if there was a mistake. `places` (may be null) receives where
/// each node stands.
std::optional<Mapping> read_mapping(ReadContext& context, const YamlNode& node,
                                    const YamlNode* plan, const Workload& workload,
                                    const Arch& arch, MappingPlaces* places);

}  // namespace sluice
