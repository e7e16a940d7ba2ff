#pragma once

#include <set>

#include "topologies.h"

namespace sluice::referee {

/// Everything that a value crosses on its way to all nodes that share it.
struct Spread {
  std::vector<Wire> wires;   ///< once for each time
  std::int64_t longest = 0;  ///< links to the node that gets it last
};

/// From where values enter a network to some of its nodes; `gathers`: the way back of their sum
/// (docs/model.md, "Networks").
Spread spread_to(const Network& network, const std::vector<std::int64_t>& fanouts,
                 std::set<NetworkNode> nodes, bool gathers);

/// Links between a node and the port that is nearest to it.
std::int64_t links_to_port(const Network& network, const std::vector<std::int64_t>& fanouts,
                           const NetworkNode& node);

}  // namespace sluice::referee
