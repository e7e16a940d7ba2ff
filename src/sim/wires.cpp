#include "wires.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace sluice::sim {
namespace {

/// One step from `node` towards `goal` along a row of nodes, closed or open.
std::int64_t step_towards(std::int64_t node, std::int64_t goal, std::int64_t length, bool closed) {
  if (!closed) return goal > node ? 1 : -1;
  const std::int64_t ahead = (goal - node + length) % length;
  return ahead <= length / 2 ? 1 : -1;
}

std::vector<Wire> dimension_order(const Network& network, const std::vector<std::int64_t>& fanouts,
                                  const NetworkNode& goal) {
  const bool closed = network.topology == Topology::kTorus;
  NetworkNode at(fanouts.size(), 0);
  if (network.entry == NetworkEntry::kEdge)
    for (std::size_t d = 1; d < fanouts.size(); ++d) at[d] = fanouts[d] / 2;
  std::vector<Wire> wires;
  for (std::size_t d = 0; d < fanouts.size(); ++d) {
    const std::int64_t direction = step_towards(at[d], goal[d], fanouts[d], closed);
    while (at[d] != goal[d]) {
      Wire wire = at;
      wire.push_back(static_cast<std::int64_t>(d));
      wire.push_back(direction);
      wires.push_back(wire);
      at[d] = (at[d] + direction + fanouts[d]) % fanouts[d];
    }
  }
  return wires;
}

std::vector<Wire> up_a_tree(std::int64_t nodes, std::int64_t node) {
  std::vector<Wire> wires;
  for (std::int64_t level = 0; (std::int64_t{1} << level) < nodes; ++level)
    wires.push_back({level, node >> level});
  return wires;
}

}  // namespace

std::vector<Wire> route_to(const Network& network, const std::vector<std::int64_t>& fanouts,
                           const NetworkNode& node) {
  std::int64_t nodes = 1;
  std::int64_t number = 0;  // in one row, the last dimension fastest
  for (std::size_t d = 0; d < fanouts.size(); ++d) {
    if (node[d] >= fanouts[d]) return {};  // no such node: the walk complains
    nodes *= fanouts[d];
    number = number * fanouts[d] + node[d];
  }
  switch (network.topology) {
    case Topology::kMesh:
    case Topology::kTorus:
      return dimension_order(network, fanouts, node);
    case Topology::kRing: {
      Network row;
      row.topology = Topology::kTorus;
      return dimension_order(row, {nodes}, {number});
    }
    case Topology::kTree:
      return up_a_tree(nodes, number);
    case Topology::kAllToAll:
      return number == 0 ? std::vector<Wire>{} : std::vector<Wire>{{number}};
    case Topology::kBus:
      return {{0}};
  }
  return {};
}

void Wires::carry(const Journey& journey, const std::vector<Party>& parties, bool returns,
                  std::int64_t event) {
  const std::vector<ComponentId> way = path_to(arch_, program_.paths.at(journey.einsum).compute);
  auto at = std::find(way.begin(), way.end(), journey.outer);
  const auto end = std::find(at, way.end(), journey.inner);
  for (; at != end; ++at) {
    const Network* network = std::get_if<Network>(&arch_[*at].kind);
    if (!network || (returns && network->returning_sums == ReturningSums::kFree)) continue;
    carry_over(*at, journey, parties, event);
  }
}

void Wires::carry_over(ComponentId network, const Journey& journey,
                       const std::vector<Party>& parties, std::int64_t event) {
  const Path& path = program_.paths.at(journey.einsum);
  const std::vector<ComponentId> way = path_to(arch_, path.compute);
  const auto own = std::find(way.begin(), way.end(), network);
  const auto fanned =
      std::find_if(own, way.end(), [&](ComponentId c) { return !arch_[c].spatial.empty(); });
  std::vector<std::int64_t> fanouts;
  if (fanned != way.end())
    for (const SpatialDimension& dimension : arch_[*fanned].spatial)
      fanouts.push_back(dimension.fanout);
  // Who gets each value, by instance of the network and message.
  std::map<std::pair<Key, Key>, std::map<Element, std::set<NetworkNode>>> messages;
  for (const Party& party : parties) {
    Key instance, message;
    NetworkNode node(fanouts.size(), 0);
    for (std::size_t d = 0; d < journey.inner_depth; ++d) {
      const LoopItem& loop = *path.spatial[d];
      const std::int64_t turn = party.lane->turns[d];
      if (d < journey.outer_depth || std::find(way.begin(), own, loop.component) != own) {
        instance.push_back(turn);
        continue;
      }
      if (!journey.shared[d]) message.push_back(turn);
      if (fanned == way.end() || loop.component != *fanned) continue;
      const auto steps = loop.steps.find(journey.einsum);
      const std::size_t turns = steps == loop.steps.end() ? 1 : steps->second;
      node[loop.dimension] = node[loop.dimension] * static_cast<std::int64_t>(turns) + turn;
    }
    auto& values = messages[{instance, message}];
    for (Element element : party.points) values[element].insert(node);
  }
  Use& use = uses_[{journey.einsum, network, journey.tensor}];
  const Network& kind = std::get<Network>(arch_[network].kind);
  for (const auto& [key, values] : messages) {
    std::map<std::set<NetworkNode>, std::int64_t> together;
    for (const auto& [element, nodes] : values) ++together[nodes];
    for (const auto& [nodes, count] : together) {
      std::set<Wire> wires;
      std::int64_t& longest = use.longest[key.first][event];
      for (const NetworkNode& node : nodes) {
        const std::vector<Wire> route = route_to(kind, fanouts, node);
        wires.insert(route.begin(), route.end());
        longest = std::max(longest, static_cast<std::int64_t>(route.size()));
      }
      use.deliveries += count * static_cast<std::int64_t>(nodes.size());
      use.value_hops += count * static_cast<std::int64_t>(wires.size());
    }
  }
}

std::vector<NetworkCount> Wires::totals(Facts& facts) const {
  std::vector<NetworkCount> rows;
  for (const auto& [what, use] : uses_) {
    const auto& [einsum, network, tensor] = what;
    const double times = static_cast<double>(workload_.n_instances * workload_[einsum].n_instances);
    const double width = facts.bits_per_value(einsum, network, tensor);
    std::int64_t most = 0;
    for (const auto& [instance, events] : use.longest)
      most = std::max(most, std::accumulate(events.begin(), events.end(), std::int64_t{0},
                                            [](std::int64_t sum, const auto& event) {
                                              return sum + event.second;
                                            }));
    rows.push_back({einsum, network, tensor, static_cast<double>(use.deliveries) * width * times,
                    static_cast<double>(use.value_hops) * width * times,
                    static_cast<double>(most) * times});
  }
  return rows;
}

}  // namespace sluice::sim
