#pragma once

#include <optional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// A memory that cannot hold one value of each tensor that `keep` puts there for some Einsum,
/// whatever else is held, or all persistent tensors that stay there: what needs no search to be
/// known. Of several Einsums, the one that needs most of it. Nothing where constraints may override
/// `keep`.
std::optional<NoMapping> too_small_memory(const BoundProblem& problem,
                                          const Constraints& constraints);

}  // namespace sluice
