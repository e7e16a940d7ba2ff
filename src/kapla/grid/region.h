#pragma once

#include <vector>

#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

/// A node's place on the chip.
using Node = Extent;

/// Links between two nodes of a mesh.
std::int64_t distance(const Node& a, const Node& b);

/// A rectangle of nodes, or of DRAM ports. A stripe that is wider than what is left of the chip
/// goes on in the next stripe, in the other direction.
struct Region {
  enum class Kind { kNodes, kDram };
  Kind kind = Kind::kNodes;
  Extent dim;                    ///< rows of the stripe, nodes along it
  Node origin{0, 0};             ///< its first node
  Extent spacing;                ///< between neighbours
  std::int64_t turn_width = 1;   ///< nodes between two turns
  std::int64_t before_turn = 1;  ///< nodes before the first turn; negative: to the left
  friend bool operator==(const Region&, const Region&) = default;

  /// Where the node of that place in the region is on the chip.
  Node at(const Node& inside) const;
};

/// The whole chip.
Region whole_grid(const Extent& grid);

/// DRAM ports at the four corners of the chip.
Region corner_ports(const Extent& grid);

/// All nodes of a region.
std::vector<Node> nodes_of(const Region& region);

/// A region for each of the sizes: stripes, as high as the greatest common divisor of the grid's
/// height and all sizes, filled one after the other, back and forth. Empty where they need more
/// than the grid.
std::vector<Region> stripes(const Extent& grid, const std::vector<std::int64_t>& sizes);

}  // namespace sluice::kapla
