#pragma once

#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// The Einsums computed in a list and in the splits below it, in the order written.
std::vector<EinsumId> einsums_below(const NodeList& nodes);

}  // namespace sluice
