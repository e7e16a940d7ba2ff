#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// Coordinates of a node, or extents of a network, per dimension.
using Coordinates = std::vector<std::int64_t>;

/// One spatial loop over the instances behind a network, outermost first within its dimension.
struct RouteLoop {
  std::uint32_t dimension = 0;  ///< of the component whose instances are the network's nodes
  std::int64_t trips = 1;
  bool distinct = true;  ///< every step has values of its own; else the steps share them
};

/// One line of nodes: a dimension of a grid, or all nodes of a network in one row.
struct NodeLine {
  std::int64_t length = 1;  ///< nodes that exist
  std::vector<RouteLoop> loops;
  std::vector<std::int64_t> strides;  ///< distance between the nodes of two steps, per loop
  std::int64_t base = 0;              ///< where loops of fixed step have led to
  std::int64_t doubled_entry = 0;     ///< twice the place where values enter

  std::int64_t product(bool distinct) const;
  /// Coordinates that the loops with this `distinct` reach, in any order.
  std::vector<std::int64_t> offsets(bool distinct) const;
};

/// The groups' routes along one line of nodes from its entry.
template <class Value>
struct BasicLineRoutes {
  Value half_hops{};         ///< twice Σ over the line's groups of the links used
  Value longest{};           ///< hops
  std::vector<Value> loads;  ///< groups over each link that leaves the entry
};

using LineRoutes = BasicLineRoutes<std::int64_t>;

/// Routes along a row of nodes, open (mesh) or closed (torus, ring): from the entry the shorter
/// way.
LineRoutes along_row(const NodeLine& line, bool closed);

/// Links between two nodes of a closed row, the shorter way.
std::int64_t hops_around(std::int64_t from, std::int64_t to, std::int64_t length);

/// Appends the numbers of the links from node to node of a grid, the first dimension first. Links
/// are numbered by the node that they leave, dimension and direction.
void walk_links(const Coordinates& fanouts, bool closed, Coordinates from, const Coordinates& to,
                std::vector<std::int64_t>& links);

/// Number of a node where all are in one row, the last dimension fastest.
std::int64_t number_in_row(const Coordinates& fanouts, const Coordinates& node);

}  // namespace sluice
