#pragma once

#include "kapla/grid/layout.h"
#include "sluice/kapla/evaluate.h"

namespace sluice::kapla {

/// How a network's inputs lie in DRAM: divided as the first partition of the network's input that nn_dataflow's enumeration
/// yields for the ports. External states are divided alike.
Partition input_partition(const NetworkLayer& input, std::int64_t batch, const Extent& ports);

}  // namespace sluice::kapla
