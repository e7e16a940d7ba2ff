#pragma once

#include <functional>
#include <vector>

#include "sampling_run.h"

namespace sluice::sampling {

/// Whether a chain goes from a mapping of objective `now` to one of `next`; `progress` in [0, 1].
using Acceptance =
    std::function<bool(double now, double next, double progress, RandomSource& random)>;

/// Annealing: a step that is worse by the share `first` is taken with probability 1/e at the
/// beginning, one that is worse by the share `last` in the end.
Acceptance annealing(double first = 0.3, double last = 0.001);

/// Several walks from neighbour to neighbour, side by side, until `progress` is 1: one from each of
/// `starts`, the others from random mappings. `patience`: neighbours in vain after which a chain
/// starts anew; 0: never. The number of chains is fixed, so that nothing depends on threads.
void walk_chains(SamplingRun* run, const Acceptance& accept, std::size_t patience,
                 const Progress& progress, const char* phase,
                 const std::vector<Genome>& starts = {});

}  // namespace sluice::sampling
