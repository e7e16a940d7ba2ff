#pragma once

#include <functional>

#include "sampling_run.h"

namespace sluice::sampling {

/// Whether a chain goes from a mapping of objective `now` to one of `next`; `progress` of the
/// budget in [0, 1].
using Acceptance =
    std::function<bool(double now, double next, double progress, RandomSource& random)>;

/// Several walks from neighbour to neighbour, side by side, each from a random mapping.
/// `patience`: neighbours in vain after which a chain starts anew; 0: never. The number of chains
/// is fixed, so that nothing depends on threads.
void walk_chains(SamplingRun* run, const Acceptance& accept, std::size_t patience,
                 const char* phase);

}  // namespace sluice::sampling
