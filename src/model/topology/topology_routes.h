#pragma once

#include "model/topology/node_line.h"

namespace sluice {

/// How values travel between the nodes of a network of one topology: a file each, named like it.
struct TopologyRoutes {
  Topology topology;
  /// Links of the route between two nodes, by coordinates below `fanouts`: messages of collectives.
  std::int64_t (*hops)(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to);
  /// From where values enter to each group of nodes that shares one: multicasts, and mirrored
  /// reductions. `line` is a dimension of a grid, or else all nodes in one row.
  LineRoutes (*from_entry)(const NodeLine& line);
  /// The same for one group: values over each link that leaves the entry. Null: as `from_entry`
  /// says; else the busiest link stands for all there.
  std::vector<std::int64_t> (*group_loads)(const NodeLine& row) = nullptr;
  /// Of topologies that link nodes: appends the numbers of the links of a route, in order.
  void (*walk)(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to,
               std::vector<std::int64_t>& links) = nullptr;
};

/// The row of the table in topology_routes.cpp.
const TopologyRoutes& routes_over(Topology topology);

}  // namespace sluice
