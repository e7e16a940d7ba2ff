#pragma once

#include <cstdint>
#include <vector>

#include "referee/topology/topologies.h"
#include "sluice/mapping/collective_group.h"

namespace sluice::referee {

/// Per network, the links of a message between two participants.
std::vector<std::int64_t> links_between(const CollectiveGroup& group,
                                        const std::vector<NetworkNode>& from,
                                        const std::vector<NetworkNode>& to);

/// The node of a participant in every network.
std::vector<NetworkNode> place_of_rank(const CollectiveGroup& group, int rank);

}  // namespace sluice::referee
