#pragma once

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/mapper/constraints.h"

namespace sluice {

/// The `constraints:` section, with the names of one workload and architecture. Nothing if there
/// was a mistake. A constraint without a name is called after its section and place (`tiles 2`).
std::optional<Constraints> read_constraints(ReadContext& context, const YamlNode& node,
                                            const Workload& workload, const Arch& arch);

}  // namespace sluice
