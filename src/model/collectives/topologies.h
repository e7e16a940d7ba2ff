#pragma once

#include <cstdint>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// What collectives must know of a topology.
struct CollectiveTopology {
  Topology topology;
  const char* name;
  /// Links of the route between two nodes, given by coordinates below `fanouts`.
  std::int64_t (*hops)(const std::vector<std::int64_t>& fanouts,
                       const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to);
  bool links_all_pairs = false;  ///< what `direct` needs
  bool is_grid = false;          ///< rows along every dimension: what `per_dimension` needs
};

/// The row of the table in topologies.cpp.
const CollectiveTopology& collective_topology(Topology topology);

}  // namespace sluice
