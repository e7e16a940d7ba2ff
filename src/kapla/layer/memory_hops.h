#pragma once

#include <vector>

#include "kapla/grid/layout.h"
#include "layer_shape.h"

namespace sluice::kapla {

/// Where a layer is computed, and between what its values move.
struct LayerPlace {
  Region region;
  Partition partition;
  std::vector<Node> ports;          ///< of DRAM; each holds all weights
  std::vector<LayoutPiece> input;   ///< what it reads
  std::vector<LayoutPiece> output;  ///< what it writes
};

/// Words × links that bring each tensor once to all nodes that need it. Values that several nodes
/// need go along a tree; partial sums come back along one. An output that stays where it is made
/// moves nowhere.
PerOperand<std::int64_t> memory_hops(const LayerShape& layer, std::int64_t batch,
                                     const LayerPlace& place);

}  // namespace sluice::kapla
