#pragma once

#include <cstdint>

#include "kapla/grid/partition.h"
#include "layer_shape.h"

namespace sluice::kapla {

/// What the node of one part works with.
struct NodeShare {
  Interval weight_inputs;  ///< channels of its weights
  Interval weight_outputs;
  Box input;
  Box output;
};

/// The values that a part of the layer reads and writes.
NodeShare node_share(const LayerShape& layer, std::int64_t batch, const Partition& partition,
                     const PartIndex& index);

/// All values of a layer's output.
Box whole_output(const LayerShape& layer, std::int64_t batch);

}  // namespace sluice::kapla
