#include "frontend/arch/network_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/yaml/values.h"

namespace sluice {
namespace {

std::vector<std::int64_t> read_coordinates(ReadContext& context, const YamlNode& node) {
  std::vector<std::int64_t> coordinates;
  if (!node.is_sequence()) {
    context.error(node, fmt::format("a port must be a list of coordinates, not {}", describe(node)),
                  "ports: [[0, 0], [3, 3]]");
    return coordinates;
  }
  for (const YamlPointer& item : node.items)
    if (const auto coordinate = read_integer(context, item.get(), "a coordinate of a port", 0))
      coordinates.push_back(*coordinate);
  return coordinates;
}

void check_topology(ReadContext& context, const YamlNode& node, const TopologyFacts& topology,
                    PortPlaces places) {
  const bool needs_edges = places == PortPlaces::kCorners || places == PortPlaces::kEdges;
  if (!topology.links_nodes)
    context.error(node, fmt::format("the memory above a {} has no choice of ports", topology.name),
                  "drop `ports`: only networks of nodes that are linked to each other have them");
  else if (needs_edges && !topology.has_edges)
    context.error(node, fmt::format("a {} has no corners and no edges", topology.name),
                  "ports: all, or a list of coordinates");
  else if (places == PortPlaces::kOwn && !topology.links_all_pairs)
    context.error(node, "only an all_to_all links a memory at a node of its own to every node",
                  "ports: corners, edges, all, or a list of coordinates");
}

}  // namespace

NetworkPorts read_network_ports(ReadContext& context, const YamlNode* node, Topology topology) {
  NetworkPorts ports;
  if (node == nullptr) return ports;
  static constexpr NamedValue<PortPlaces> kPlaces[] = {{"corners", PortPlaces::kCorners},
                                                       {"edges", PortPlaces::kEdges},
                                                       {"all", PortPlaces::kAll},
                                                       {"own", PortPlaces::kOwn}};
  if (node->is_sequence()) {
    ports.places = PortPlaces::kListed;
    if (node->items.empty())
      context.error(*node, "a network needs at least one port", "list one, or drop `ports`");
    for (const YamlPointer& item : node->items) {
      ports.nodes.push_back(read_coordinates(context, *item));
      if (std::count(ports.nodes.begin(), ports.nodes.end(), ports.nodes.back()) > 1)
        context.error(*item, "this port is listed twice", "list each once");
    }
  } else if (const auto places = read_choice(context, node, "place of ports", kPlaces)) {
    ports.places = *places;
  }
  check_topology(context, *node, facts_of(topology), ports.places);
  return ports;
}

void check_network_ports(ReadContext& context, const YamlNode& node, const NetworkPorts& ports,
                         const std::vector<std::int64_t>& fanouts) {
  for (std::size_t p = 0; p < ports.nodes.size(); ++p) {
    const std::vector<std::int64_t>& port = ports.nodes[p];
    const YamlNode& place = *node.items[p];
    if (port.size() != fanouts.size())
      context.error(place,
                    fmt::format("a port of this network has {} coordinate{}, not {}",
                                fanouts.size(), fanouts.size() == 1 ? "" : "s", port.size()),
                    "one a spatial dimension of the component that the network links");
    else if (!std::equal(port.begin(), port.end(), fanouts.begin(), std::less<>()))
      context.error(place,
                    fmt::format("the port [{}] lies outside the grid of {} nodes",
                                fmt::join(port, ", "), fmt::join(fanouts, " x ")),
                    "coordinates count from 0");
  }
}

}  // namespace sluice
