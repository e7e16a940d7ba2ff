#pragma once

#include <cstdint>
#include <vector>

#include "sluice/mapping/collective_group.h"

namespace sluice::referee {

using NodePlace = std::vector<std::int64_t>;  ///< coordinates of a node in its network

/// Walks from node to node, one link after another, and says how many it took. Dimension order,
/// the first dimension first; the shorter way round a torus or ring (the ring runs through all
/// nodes in a row, the last dimension fastest); a tree's nodes are the leaves of a binary tree.
std::int64_t links_walked(const CollectiveNetwork& network, const NodePlace& from,
                          const NodePlace& to);

/// Per network, the links of a message between two participants.
std::vector<std::int64_t> links_between(const CollectiveGroup& group,
                                        const std::vector<NodePlace>& from,
                                        const std::vector<NodePlace>& to);

/// The node of a participant in every network.
std::vector<NodePlace> place_of_rank(const CollectiveGroup& group, int rank);

}  // namespace sluice::referee
