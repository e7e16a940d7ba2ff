#pragma once

#include "sampling_run.h"

namespace sluice::sampling {

/// Improves one Einsum after the other until `progress` is 1, from the first of `starts` that is
/// legal. Each is annealed by its price alone, with what it exchanges as it is: so it joins the
/// others as they are, and thousands of its nests are priced where the whole would be priced once.
/// Where an Einsum has changed, so have those like it; then the whole is priced and recorded.
void polish(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts);

}  // namespace sluice::sampling
