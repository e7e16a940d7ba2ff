#pragma once

#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// The Einsums computed in a list and in the splits below it, in the order written.
std::vector<EinsumId> einsums_below(const NodeList& nodes);

/// Per tensor: the Einsums that make or read it, ascending.
std::vector<std::vector<EinsumId>> users_of_tensors(const Workload& workload);

}  // namespace sluice
