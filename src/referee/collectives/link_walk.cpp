#include "link_walk.h"

#include <algorithm>

namespace sluice::referee {
namespace {

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

/// Up from both leaves until the ways meet.
std::int64_t climb(std::int64_t from, std::int64_t to) {
  std::int64_t links = 0;
  for (; from != to; from /= 2, to /= 2) links += 2;
  return links;
}

std::int64_t number_of(const NodePlace& place, const std::vector<std::int64_t>& fanouts) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) number = number * fanouts[d] + place[d];
  return number;
}

}  // namespace

std::int64_t links_walked(const CollectiveNetwork& network, const NodePlace& from,
                          const NodePlace& to) {
  if (from == to) return 0;
  const std::vector<std::int64_t>& fanouts = network.fanouts;
  std::int64_t nodes = 1;
  for (std::int64_t fanout : fanouts) nodes *= fanout;
  const std::int64_t first = number_of(from, fanouts), last = number_of(to, fanouts);
  switch (network.network.topology) {
    case Topology::kMesh:
    case Topology::kTorus: {
      std::int64_t links = 0;
      for (std::size_t d = 0; d < fanouts.size(); ++d)
        links += walk_row(from[d], to[d], fanouts[d], network.network.topology == Topology::kTorus);
      return links;
    }
    case Topology::kRing:
      return walk_row(first, last, nodes, true);
    case Topology::kTree:
      return climb(first, last);
    case Topology::kAllToAll:
    case Topology::kBus:
      return 1;
  }
  return 0;
}

std::vector<NodePlace> place_of_rank(const CollectiveGroup& group, int rank) {
  std::vector<NodePlace> places = group.standing_at;
  places.resize(group.networks.size());
  for (std::size_t n = 0; n < places.size(); ++n)
    places[n].resize(group.networks[n].fanouts.size(), 0);
  std::int64_t rest = rank;
  for (auto dimension = group.over.rbegin(); dimension != group.over.rend(); ++dimension) {
    places[dimension->network][dimension->dimension] =
        dimension->first + rest % dimension->participants;
    rest /= dimension->participants;
  }
  return places;
}

std::vector<std::int64_t> links_between(const CollectiveGroup& group,
                                        const std::vector<NodePlace>& from,
                                        const std::vector<NodePlace>& to) {
  std::vector<std::int64_t> links(group.networks.size(), 0);
  bool leaves_container = false;
  for (std::size_t n = 0; n < links.size(); ++n) {
    const CollectiveNetwork& network = group.networks[n];
    if (!leaves_container) {
      links[n] = links_walked(network, from[n], to[n]);
    } else {
      const NodePlace door(network.fanouts.size(), 0);
      links[n] = links_walked(network, from[n], door) + links_walked(network, door, to[n]);
    }
    leaves_container = leaves_container || from[n] != to[n];
  }
  return links;
}

}  // namespace sluice::referee
