#pragma once

#include <optional>

#include "sluice/mapper/constraints.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"

namespace sluice {

/// The problem with what constraints ask memories to hold, and keep off spatial dimensions: its
/// bounds are those of all mappings that meet the constraints.
BoundProblem constrained(BoundProblem problem, const Constraints& constraints);
/// The same where no node is written above loops that it sinks through: least tiles are those that
/// memories hold. To find mappings by, not bounds.
BoundProblem constrained_as_held(BoundProblem problem, const Constraints& constraints);

/// The problem without computes that constraints exclude: they ask a memory off the way there to
/// hold what an Einsum uses. None: all stay. An Einsum may have no compute left (no_compute_left).
std::optional<BoundProblem> without_excluded_computes(const BoundProblem& problem,
                                                      const Constraints& constraints);

/// Why constraints leave some Einsum without a compute; none where each has one.
std::optional<NoMapping> no_compute_left(const BoundProblem& problem,
                                         const Constraints& constraints);

}  // namespace sluice
