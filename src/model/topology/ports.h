#pragma once

#include "model/topology/topology_routes.h"

namespace sluice {

/// Whether routes begin at several ports, or form greedy trees: they are walked link by link.
bool has_ported_routes(const Network& network);

/// Links from the port of a network that is nearest to a node: node 0 where it has no other.
std::int64_t hops_from_port(const Network& network, const Coordinates& fanouts,
                            const Coordinates& node);

/// The links that bring a value from the ports of a network to nodes that share it.
struct SharedRoutes {
  std::vector<std::int64_t> links;  ///< by number, as often as the value crosses them
  std::int64_t longest = 0;         ///< links from a port to a node
};

/// From the ports of one network (docs/model.md, "Networks").
class PortRoutes {
 public:
  /// Precondition: has_ported_routes. Keeps references to both.
  PortRoutes(const Network& network, const Coordinates& fanouts);

  /// To nodes that share a value; or, mirrored, of their sum to the port that is nearest to any of
  /// them.
  SharedRoutes to(std::vector<Coordinates> members, bool gathers) const;

 private:
  std::int64_t hops(const Coordinates& from, const Coordinates& to) const {
    return ways_.hops(fanouts_, from, to);
  }
  const Coordinates& nearest_port(const std::vector<Coordinates>& members) const;
  void join(const std::vector<Coordinates>& sources, const std::vector<Coordinates>& members,
            SharedRoutes& routes) const;
  void grow_tree(const std::vector<Coordinates>& sources, const std::vector<Coordinates>& members,
                 SharedRoutes& routes) const;

  const Network& network_;
  const Coordinates& fanouts_;
  const TopologyRoutes& ways_;
  std::vector<Coordinates> ports_;  ///< none where the memory stands at nodes of its own
};

}  // namespace sluice
