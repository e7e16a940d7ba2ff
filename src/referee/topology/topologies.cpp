#include "topologies.h"

#include <algorithm>
#include <array>

namespace sluice::referee {
namespace {

using Extents = std::vector<std::int64_t>;

std::int64_t product(const Extents& extents) {
  std::int64_t nodes = 1;
  for (const std::int64_t extent : extents) nodes *= extent;
  return nodes;
}

/// Where all nodes are in one row, the last dimension fastest.
std::int64_t number_of(const NetworkNode& node, const Extents& fanouts) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) number = number * fanouts[d] + node[d];
  return number;
}

/// Steps along a row of nodes, one neighbour at a time, in the direction that arrives first.
std::int64_t walk_row(std::int64_t from, std::int64_t to, std::int64_t length, bool closed) {
  if (from == to) return 0;
  const auto walk = [&](std::int64_t direction) {
    std::int64_t at = from, links = 0;
    while (at != to) {
      at += direction;
      if (at < 0 || at >= length) {
        if (!closed) return length;  // ran into the end of the row
        at = (at + length) % length;
      }
      ++links;
    }
    return links;
  };
  return std::min(walk(+1), walk(-1));
}

template <bool is_closed>
std::int64_t walk_grid(const Extents& fanouts, const NetworkNode& from, const NetworkNode& to) {
  std::int64_t links = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d)
    links += walk_row(from[d], to[d], fanouts[d], is_closed);
  return links;
}

std::int64_t walk_ring(const Extents& fanouts, const NetworkNode& from, const NetworkNode& to) {
  return walk_row(number_of(from, fanouts), number_of(to, fanouts), product(fanouts), true);
}

std::int64_t walk_one(const Extents&, const NetworkNode&, const NetworkNode&) { return 1; }

/// Up from both leaves until the ways meet.
std::int64_t climb(const Extents& fanouts, const NetworkNode& from, const NetworkNode& to) {
  std::int64_t links = 0;
  for (std::int64_t a = number_of(from, fanouts), b = number_of(to, fanouts); a != b;
       a /= 2, b /= 2)
    links += 2;
  return links;
}

/// From the entry to a node, the first dimension first. Places are twice the coordinates: an entry
/// between two nodes has an odd one.
std::vector<Wire> dimension_order(const Extents& fanouts, bool closed, NetworkNode at,
                                  const NetworkNode& goal) {
  std::vector<Wire> wires;
  for (std::size_t d = 0; d < fanouts.size(); ++d) {
    const std::int64_t end = 2 * goal[d], around = 2 * fanouts[d];
    const bool forwards = closed ? (end - at[d] + around) % around <= fanouts[d] : end > at[d];
    while (at[d] != end) {
      Wire wire{at, at[d] % 2 != 0 ? 1 : 2};
      wire.place.push_back(static_cast<std::int64_t>(d));
      wire.place.push_back(forwards);
      at[d] = (at[d] + (forwards ? wire.half_hops : -wire.half_hops) + around) % around;
      wires.push_back(std::move(wire));
    }
  }
  return wires;
}

template <bool is_closed>
std::vector<Wire> through_grid(const Network& network, const Extents& fanouts,
                               const NetworkNode& node) {
  NetworkNode entry(fanouts.size(), 0);  // twice its coordinates
  if (network.entry == NetworkEntry::kEdge)
    for (std::size_t d = 1; d < fanouts.size(); ++d) entry[d] = fanouts[d] - 1;
  return dimension_order(fanouts, is_closed, std::move(entry), node);
}

std::vector<Wire> round_ring(const Network&, const Extents& fanouts, const NetworkNode& node) {
  return dimension_order({product(fanouts)}, true, {0}, {number_of(node, fanouts)});
}

std::vector<Wire> own_link(const Network&, const Extents& fanouts, const NetworkNode& node) {
  const std::int64_t number = number_of(node, fanouts);
  return number == 0 ? std::vector<Wire>{} : std::vector<Wire>{{{number}}};
}

std::vector<Wire> the_bus(const Network&, const Extents&, const NetworkNode&) { return {{{0}}}; }

std::vector<Wire> down_a_tree(const Network&, const Extents& fanouts, const NetworkNode& node) {
  const std::int64_t nodes = product(fanouts), number = number_of(node, fanouts);
  std::vector<Wire> wires;
  for (std::int64_t level = 0; (std::int64_t{1} << level) < nodes; ++level)
    wires.push_back({{level, number >> level}});
  return wires;
}

struct Ways {
  Topology topology;
  std::int64_t (*walk)(const Extents& fanouts, const NetworkNode& from, const NetworkNode& to);
  std::vector<Wire> (*from_entry)(const Network&, const Extents& fanouts, const NetworkNode&);
};

/// In the order of the enumerators.
constexpr std::array kWays = {
    Ways{Topology::kMesh, walk_grid<false>, through_grid<false>},
    Ways{Topology::kTorus, walk_grid<true>, through_grid<true>},
    Ways{Topology::kRing, walk_ring, round_ring},
    Ways{Topology::kAllToAll, walk_one, own_link},
    Ways{Topology::kBus, walk_one, the_bus},
    Ways{Topology::kTree, climb, down_a_tree},
};
static_assert([] {
  bool in_order = kWays.size() == std::size(kTopologies);
  for (std::size_t t = 0; in_order && t < kWays.size(); ++t)
    in_order = kWays[t].topology == kTopologies[t].topology;
  return in_order;
}());

const Ways& ways_over(const Network& network) {
  return kWays[static_cast<std::size_t>(network.topology)];
}

NetworkNode doubled(NetworkNode node) {
  for (std::int64_t& place : node) place *= 2;
  return node;
}

}  // namespace

std::vector<Wire> route_between(const Network& network, const Extents& fanouts,
                                const NetworkNode& from, const NetworkNode& to) {
  if (from == to) return {};
  switch (network.topology) {
    case Topology::kMesh:
    case Topology::kTorus:
      return dimension_order(fanouts, network.topology == Topology::kTorus, doubled(from), to);
    case Topology::kRing:
      return dimension_order({product(fanouts)}, true, {2 * number_of(from, fanouts)},
                             {number_of(to, fanouts)});
    case Topology::kAllToAll:
    case Topology::kBus:
    case Topology::kTree:
      break;
  }
  return {{{number_of(from, fanouts), number_of(to, fanouts)}}};
}

std::vector<Wire> route_to(const Network& network, const Extents& fanouts,
                           const NetworkNode& node) {
  for (std::size_t d = 0; d < fanouts.size(); ++d)
    if (node[d] >= fanouts[d]) return {};  // the walk complains
  return ways_over(network).from_entry(network, fanouts, node);
}

std::int64_t links_walked(const Network& network, const Extents& fanouts, const NetworkNode& from,
                          const NetworkNode& to) {
  return from == to ? 0 : ways_over(network).walk(fanouts, from, to);
}

}  // namespace sluice::referee
