#pragma once

#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/arch/arch.h"

namespace sluice {

/// `ports: corners`, `edges`, `all`, `own` or a list of coordinates. A null node: at the entry.
NetworkPorts read_network_ports(ReadContext& context, const YamlNode* node, Topology topology);

/// Reports listed ports that are no nodes of a grid with these extents.
void check_network_ports(ReadContext& context, const YamlNode& node, const NetworkPorts& ports,
                         const std::vector<std::int64_t>& fanouts);

}  // namespace sluice
