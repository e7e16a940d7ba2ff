#pragma once

#include "oracle/compound/compound_group.h"

namespace sluice::oracle {

/// M0: the memory that stands first.
ComponentId outermost_memory(const Arch& arch);

/// Every way to map a group of several Einsums: a frame of loops and storage nodes, then a split.
std::vector<NodeList> framed_ways(const BoundProblem& problem, std::size_t begin, std::size_t end,
                                  const GroupTensors& tensors, const CompoundLimits& limits);

}  // namespace sluice::oracle
