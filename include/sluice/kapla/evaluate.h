#pragma once

#include <vector>

#include "sluice/kapla/run.h"
#include "sluice/kapla/scheme.h"
#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// The cost of every layer of a run, in the order of its schemes: segment by segment, producers
/// before consumers. How a layer's input lies follows from the schemes of those that made it.
Result<std::vector<SchemeCost>> evaluate_schemes(const Run& run,
                                                 const std::vector<Scheme>& schemes);

}  // namespace sluice::kapla
