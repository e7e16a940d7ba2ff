#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice::referee {

/// A node of a network: its place along each dimension of the fanout that the network links.
using NetworkNode = std::vector<std::int64_t>;
/// A link of a network; equal ones are the same link.
struct Wire {
  std::vector<std::int64_t> place;
  std::int64_t half_hops = 2;  ///< its length: 1 next to an entry between two nodes
  friend auto operator<=>(const Wire&, const Wire&) = default;
};

/// The links from where values enter a network to one node, in order (docs/model.md, "Networks").
/// `fanouts`: extents of its dimensions. None where there is no such node.
std::vector<Wire> route_to(const Network& network, const std::vector<std::int64_t>& fanouts,
                           const NetworkNode& node);

/// The links of a route between two nodes of a network that links nodes, in order; as links_walked.
std::vector<Wire> route_between(const Network& network, const std::vector<std::int64_t>& fanouts,
                                const NetworkNode& from, const NetworkNode& to);

/// Walks from node to node, one link after another, and says how many it took. Dimension order,
/// the first dimension first; the shorter way round a torus or ring (the ring runs through all
/// nodes in a row, the last dimension fastest); a tree's nodes are the leaves of a binary tree.
std::int64_t links_walked(const Network& network, const std::vector<std::int64_t>& fanouts,
                          const NetworkNode& from, const NetworkNode& to);

}  // namespace sluice::referee
