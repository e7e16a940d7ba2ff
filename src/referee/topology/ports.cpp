#include "ports.h"

#include <algorithm>
#include <map>

namespace sluice::referee {
namespace {

using Extents = std::vector<std::int64_t>;

/// All nodes in the order of their numbers.
std::set<NetworkNode> all_nodes(const Extents& fanouts) {
  std::set<NetworkNode> nodes = {NetworkNode{}};
  for (const std::int64_t extent : fanouts) {
    std::set<NetworkNode> longer;
    for (NetworkNode node : nodes) {
      node.push_back(0);
      for (; node.back() < extent; ++node.back()) longer.insert(node);
    }
    nodes = std::move(longer);
  }
  return nodes;
}

std::set<NetworkNode> ports_of(const Network& network, const Extents& fanouts) {
  const NetworkPorts& ports = network.ports;
  if (ports.places == PortPlaces::kListed) return {ports.nodes.begin(), ports.nodes.end()};
  if (ports.places == PortPlaces::kEntry) return {NetworkNode(fanouts.size(), 0)};
  std::set<NetworkNode> nodes = all_nodes(fanouts);
  if (ports.places == PortPlaces::kAll) return nodes;
  std::erase_if(nodes, [&](const NetworkNode& node) {
    bool inside_everywhere = !fanouts.empty(), inside_somewhere = false;
    for (std::size_t d = 0; d < fanouts.size(); ++d) {
      const bool inside = node[d] > 0 && node[d] + 1 < fanouts[d];
      inside_everywhere = inside_everywhere && inside;
      inside_somewhere = inside_somewhere || inside;
    }
    return ports.places == PortPlaces::kEdges ? inside_everywhere : inside_somewhere;
  });
  return nodes;
}

/// Serves the nodes, one after the other.
class Service {
 public:
  Service(const Network& network, const Extents& fanouts, const std::set<NetworkNode>& ports)
      : network_(network), fanouts_(fanouts) {
    for (const NetworkNode& port : ports) served_.emplace_back(port, 0);
  }

  Spread by_dimension_order(const std::set<NetworkNode>& nodes) {
    std::set<Wire> wires;
    for (const NetworkNode& node : nodes) {
      const std::vector<Wire> route = route_from(nearest(node).first, node);
      wires.insert(route.begin(), route.end());
      result_.longest = std::max(result_.longest, static_cast<std::int64_t>(route.size()));
    }
    result_.wires.assign(wires.begin(), wires.end());
    return result_;
  }

  Spread by_tree(std::set<NetworkNode> nodes) {
    while (!nodes.empty()) {
      NetworkNode next = *nodes.begin();
      for (const NetworkNode& node : nodes)
        if (links(nearest(node).first, node) < links(nearest(next).first, next)) next = node;
      const auto [server, way] = nearest(next);
      const std::vector<Wire> route = route_from(server, next);
      result_.wires.insert(result_.wires.end(), route.begin(), route.end());
      served_.emplace_back(next, way + static_cast<std::int64_t>(route.size()));
      result_.longest = std::max(result_.longest, served_.back().second);
      nodes.erase(next);
    }
    return result_;
  }

 private:
  std::int64_t links(const NetworkNode& from, const NetworkNode& to) const {
    return links_walked(network_, fanouts_, from, to);
  }

  std::vector<Wire> route_from(const NetworkNode& from, const NetworkNode& to) const {
    return route_between(network_, fanouts_, from, to);
  }

  /// The first one served among those that are as near as any, with its own way from a port.
  std::pair<NetworkNode, std::int64_t> nearest(const NetworkNode& node) const {
    auto best = served_.front();
    for (const auto& candidate : served_)
      if (links(candidate.first, node) < links(best.first, node)) best = candidate;
    return best;
  }

  const Network& network_;
  const Extents& fanouts_;
  std::vector<std::pair<NetworkNode, std::int64_t>> served_;
  Spread result_;
};

/// The first port to which any of the nodes has the fewest links.
NetworkNode port_of_sum(const Network& network, const Extents& fanouts,
                        const std::set<NetworkNode>& ports, const std::set<NetworkNode>& nodes) {
  std::map<std::int64_t, NetworkNode> by_links;
  for (const NetworkNode& port : ports)
    for (const NetworkNode& node : nodes)
      by_links.try_emplace(links_walked(network, fanouts, port, node), port);
  return by_links.begin()->second;
}

bool has_own_nodes(const Network& network) { return network.ports.places == PortPlaces::kOwn; }

}  // namespace

Spread spread_to(const Network& network, const Extents& fanouts, std::set<NetworkNode> nodes,
                 bool gathers) {
  std::erase_if(nodes, [&](const NetworkNode& node) {  // the walk complains
    return !std::equal(node.begin(), node.end(), fanouts.begin(), std::less<>());
  });
  if (nodes.empty()) return {};
  if (has_own_nodes(network)) {
    Spread spread;
    for (const NetworkNode& node : nodes) spread.wires.push_back({node});
    spread.longest = 1;
    return spread;
  }
  if (network.ports.places == PortPlaces::kEntry && network.multicast != Multicast::kGreedyTree) {
    std::set<Wire> wires;
    Spread spread;
    for (const NetworkNode& node : nodes) {
      const std::vector<Wire> route = route_to(network, fanouts, node);
      wires.insert(route.begin(), route.end());
      spread.longest = std::max(spread.longest, static_cast<std::int64_t>(route.size()));
    }
    spread.wires.assign(wires.begin(), wires.end());
    return spread;
  }
  std::set<NetworkNode> ports = ports_of(network, fanouts);
  if (gathers) ports = {port_of_sum(network, fanouts, ports, nodes)};
  Service service(network, fanouts, ports);
  return network.multicast == Multicast::kGreedyTree ? service.by_tree(nodes)
                                                     : service.by_dimension_order(nodes);
}

std::int64_t links_to_port(const Network& network, const Extents& fanouts,
                           const NetworkNode& node) {
  if (has_own_nodes(network)) return 1;
  std::set<std::int64_t> links;
  for (const NetworkNode& port : ports_of(network, fanouts))
    links.insert(links_walked(network, fanouts, port, node));
  return *links.begin();
}

}  // namespace sluice::referee
