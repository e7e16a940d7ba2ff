#pragma once

#include <atomic>
#include <functional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Whether a relaxed machine bounds all that the mapper searches: one objective, perfect factors,
/// Einsums one after the other under the policy `overlap`, and no constraint against a `keep`.
bool takes_relaxed_bound(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options);

/// The best mapping of a relaxed machine (sluice/model/relaxed_machine.h), or what is known of it:
/// no mapping's objective is below (J, s or J·s); 0: not known. `limit`: the objective of a mapping
/// in hand, or infinity; the bound is at most that. `tell`: as MapperControl::bound, may be empty.
double relaxed_bound(const BoundProblem& problem, const MapperOptions& options, double limit,
                     const std::atomic<bool>* cancel, const std::function<void(double)>& tell);

}  // namespace sluice
