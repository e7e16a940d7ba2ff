#include "model/network/rotation.h"

#include <algorithm>
#include <map>

#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

Coordinates node_at(const std::vector<RotationLoop>& loops, const std::vector<std::int64_t>& steps,
                    const Coordinates& first, std::size_t n_dimensions) {
  Coordinates node(n_dimensions, 0);
  for (std::size_t l = 0; l < loops.size(); ++l)
    node[loops[l].dimension] = node[loops[l].dimension] * loops[l].trips + steps[l];
  for (std::size_t d = 0; d < first.size(); ++d) node[d] += first[d];
  return node;
}

/// To the next step of the loops that count, the last one fastest; false where they begin again.
template <class Counts>
bool advance(const std::vector<RotationLoop>& loops, std::vector<std::int64_t>& steps,
             const Counts& counts) {
  for (std::size_t l = loops.size(); l-- > 0;) {
    if (!counts(loops[l])) continue;
    if (++steps[l] < loops[l].trips) return true;
    steps[l] = 0;
  }
  return false;
}

}  // namespace

Rotation rotation_of(const Network& network, const Coordinates& fanouts,
                     const std::vector<RotationLoop>& loops, const Coordinates& first) {
  const TopologyRoutes& ways = routes_over(network.topology);
  Rotation rotation;
  std::map<std::int64_t, std::int64_t> loads;
  std::vector<std::int64_t> links;
  std::vector<std::int64_t> to(loops.size(), 0);
  do {
    std::vector<std::int64_t> from = to;
    advance(loops, from, [](const RotationLoop& loop) { return loop.over_peers; });
    const Coordinates giver = node_at(loops, from, first, fanouts.size());
    const Coordinates taker = node_at(loops, to, first, fanouts.size());
    const std::int64_t hops = ways.hops(fanouts, giver, taker);
    ++rotation.messages;
    rotation.links += hops;
    rotation.longest = std::max(rotation.longest, hops);
    links.assign(ways.walk ? 0 : 1, 0);  // one medium for all
    if (ways.walk) ways.walk(fanouts, giver, taker, links);
    for (const std::int64_t link : links)
      rotation.most_loaded = std::max(rotation.most_loaded, ++loads[link]);
  } while (advance(loops, to, [](const RotationLoop&) { return true; }));
  return rotation;
}

}  // namespace sluice
