#include "link_walk.h"

#include "referee/topology/ports.h"

namespace sluice::referee {
std::vector<NetworkNode> place_of_rank(const CollectiveGroup& group, int rank) {
  std::vector<NetworkNode> places = group.standing_at;
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
                                        const std::vector<NetworkNode>& from,
                                        const std::vector<NetworkNode>& to) {
  std::vector<std::int64_t> links(group.networks.size(), 0);
  bool leaves_container = false;
  for (std::size_t n = 0; n < links.size(); ++n) {
    const CollectiveNetwork& network = group.networks[n];
    if (!leaves_container) {
      links[n] = links_walked(network.network, network.fanouts, from[n], to[n]);
    } else {
      links[n] = links_to_port(network.network, network.fanouts, from[n]) +
                 links_to_port(network.network, network.fanouts, to[n]);
    }
    leaves_container = leaves_container || from[n] != to[n];
  }
  return links;
}

}  // namespace sluice::referee
