#pragma once

#include <atomic>
#include <functional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Whether a relaxed machine bounds all that the mapper searches: one objective, perfect factors,
/// Einsums one after the other under the policy `overlap`, no nodes that keep their tile between
/// visits, and no constraint against a `keep`.
bool takes_relaxed_bound(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options);

/// The best mappings of relaxed machines (sluice/model/relaxed_machine.h), one for each cut, or
/// what is known of them: no mapping's objective is below any (J, s or J·s); 0: not known. `limit`:
/// the objective of a mapping in hand, or infinity; the bound is at most that. `tell`: as
/// MapperControl::bound, may be empty.
double relaxed_bound(const BoundProblem& problem, const MapperOptions& options, double limit,
                     const std::atomic<bool>* cancel, const std::function<void(double)>& tell);

}  // namespace sluice
