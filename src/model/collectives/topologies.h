#pragma once

#include "sluice/model/collective_algorithm.h"

namespace sluice {

/// The row of the table in topologies.cpp.
const CollectiveTopology& collective_topology(Topology topology);

}  // namespace sluice
