#pragma once

#include <vector>

#include "kapla/grid/layout.h"
#include "sluice/kapla/evaluate.h"

namespace sluice::kapla {

/// The ways in which nn_dataflow lays out a network's inputs in DRAM: divided among the ports as
/// each of the partitions that its enumeration yields for the network's input, in that order.
/// External states are divided alike.
std::vector<Partition> input_partitions(const NetworkLayer& input, std::int64_t batch,
                                        const Extent& ports);

}  // namespace sluice::kapla
