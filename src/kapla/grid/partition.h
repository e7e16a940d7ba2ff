#pragma once

#include <array>
#include <optional>
#include <vector>

#include "box.h"
#include "region.h"
#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

/// Which part of each division a node has.
using PartIndex = std::array<Extent, 4>;

/// Nodes down and across that a partition takes.
Extent nodes_taken(const Partition& partition);

/// All parts, the first division's slowest.
std::vector<PartIndex> part_indices(const Partition& partition);

/// The place of a part when all parts of a division are numbered in a row.
std::int64_t number_of(const Partition& partition, Divided by, const PartIndex& index);

/// The node that works on a part.
Node node_of(const Partition& partition, const Region& region, const PartIndex& index);

/// The part of a feature map that belongs to it; divided by samples, output channels and plane.
Box part_of(const Partition& partition, const Box& whole, const PartIndex& index);

/// How the feature map of such a partition lies in another region: the innermost divisions first,
/// cut where the region ends; a narrower partition gets more samples.
Partition project(const Partition& partition, const Region& region);

/// Average links between neighbours of a division, down and across; nothing where it has no
/// neighbours in that direction.
struct NeighbourDistance {
  std::optional<double> h;
  std::optional<double> w;
};
NeighbourDistance neighbour_distance(const Partition& partition, const Region& region, Divided by);

}  // namespace sluice::kapla
