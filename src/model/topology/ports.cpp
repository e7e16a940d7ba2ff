#include "model/topology/ports.h"

#include <algorithm>

#include "model/topology/greedy_tree.h"

namespace sluice {
namespace {

bool is_port(const NetworkPorts& ports, const Coordinates& fanouts, const Coordinates& node) {
  std::size_t ends = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d)
    ends += node[d] == 0 || node[d] == fanouts[d] - 1 ? 1 : 0;
  switch (ports.places) {
    case PortPlaces::kEntry:
      return number_in_row(fanouts, node) == 0;
    case PortPlaces::kCorners:
      return ends == fanouts.size();
    case PortPlaces::kEdges:
      return ends > 0 || fanouts.empty();
    case PortPlaces::kAll:
      return true;
    case PortPlaces::kListed:
      return std::find(ports.nodes.begin(), ports.nodes.end(), node) != ports.nodes.end();
    case PortPlaces::kOwn:
      break;
  }
  return false;
}

/// In the order of their numbers.
std::vector<Coordinates> ports_of(const Network& network, const Coordinates& fanouts) {
  std::vector<Coordinates> ports;
  Coordinates node(fanouts.size(), 0);
  for (;;) {
    if (is_port(network.ports, fanouts, node)) ports.push_back(node);
    std::size_t d = node.size();
    while (d > 0 && node[d - 1] + 1 == fanouts[d - 1]) node[--d] = 0;
    if (d == 0) return ports;
    ++node[d - 1];
  }
}

}  // namespace

bool has_ported_routes(const Network& network) {
  return network.ports.places != PortPlaces::kEntry || network.multicast == Multicast::kGreedyTree;
}

std::int64_t hops_from_port(const Network& network, const Coordinates& fanouts,
                            const Coordinates& node) {
  if (network.ports.places != PortPlaces::kEntry)
    return PortRoutes(network, fanouts).to({node}, false).longest;
  return routes_over(network.topology).hops(fanouts, Coordinates(fanouts.size(), 0), node);
}

PortRoutes::PortRoutes(const Network& network, const Coordinates& fanouts)
    : network_(network),
      fanouts_(fanouts),
      ways_(routes_over(network.topology)),
      ports_(ports_of(network, fanouts)) {}

SharedRoutes PortRoutes::to(std::vector<Coordinates> members, bool gathers) const {
  SharedRoutes routes;
  if (network_.ports.places == PortPlaces::kOwn) {  // a link to each
    for (const Coordinates& member : members)
      routes.links.push_back(number_in_row(fanouts_, member));
    routes.longest = members.empty() ? 0 : 1;
    return routes;
  }
  std::sort(members.begin(), members.end());
  const std::vector<Coordinates> sources =
      gathers ? std::vector<Coordinates>(1, nearest_port(members)) : ports_;
  if (network_.multicast == Multicast::kGreedyTree)
    grow_tree(sources, members, routes);
  else
    join(sources, members, routes);
  return routes;
}

const Coordinates& PortRoutes::nearest_port(const std::vector<Coordinates>& members) const {
  const Coordinates* best = &ports_.front();
  std::int64_t least = hops(*best, members.front());
  for (const Coordinates& port : ports_)
    for (const Coordinates& member : members)
      if (const std::int64_t links = hops(port, member); links < least) {
        best = &port;
        least = links;
      }
  return *best;
}

/// Each member's route from its nearest source; links that several take count once.
void PortRoutes::join(const std::vector<Coordinates>& sources,
                      const std::vector<Coordinates>& members, SharedRoutes& routes) const {
  for (const Coordinates& member : members) {
    const Coordinates& source = *std::min_element(
        sources.begin(), sources.end(),
        [&](const auto& a, const auto& b) { return hops(a, member) < hops(b, member); });
    ways_.walk(fanouts_, source, member, routes.links);
    routes.longest = std::max(routes.longest, hops(source, member));
  }
  std::sort(routes.links.begin(), routes.links.end());
  routes.links.erase(std::unique(routes.links.begin(), routes.links.end()), routes.links.end());
}

void PortRoutes::grow_tree(const std::vector<Coordinates>& sources,
                           const std::vector<Coordinates>& members, SharedRoutes& routes) const {
  const auto node = [&](std::size_t n) -> const Coordinates& {
    return n < sources.size() ? sources[n] : members[n - sources.size()];
  };
  const auto links_from = [&](const std::vector<Coordinates>& nodes) {
    std::vector<std::int32_t> links;
    links.reserve(nodes.size() * members.size());
    for (const Coordinates& from : nodes)
      for (const Coordinates& to : members)
        links.push_back(static_cast<std::int32_t>(hops(from, to)));
    return links;
  };
  GreedyTrees trees(members.size(), links_from(members));
  for (const TreeBranch& branch : trees.grow(links_from(sources))) {
    ways_.walk(fanouts_, node(branch.from), node(branch.to), routes.links);
    routes.longest = std::max(routes.longest, branch.depth);
  }
}

}  // namespace sluice
