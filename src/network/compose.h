#pragma once

#include "homes.h"
#include "sluice/mapping/mapping.h"
#include "sluice/network/layer_graph.h"

namespace sluice {

/// One mapping of a whole network: the layers one after the other. `mappings`: one for each shape,
/// in its own ids. The nodes at the top of a layer's mapping that keep tensors in the memory
/// `outermost` or for the whole run move to the top of the whole, and so do all tensors in their
/// homes further in.
Mapping compose(const LayerGraph& graph, const std::vector<const Mapping*>& mappings,
                ComponentId outermost, const InnerHomes& homes);

}  // namespace sluice
