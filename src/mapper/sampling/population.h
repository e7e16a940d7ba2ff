#pragma once

#include <vector>

#include "sampling_run.h"

namespace sluice::sampling {

/// A population that is crossed (0.7) and mutated (0.2), until `progress` is 1. `starts`: members
/// that it begins with.
void breed(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts = {});

}  // namespace sluice::sampling
