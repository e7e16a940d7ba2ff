#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The fanouts with a `min_usage`, as `Memory.dimension`; empty where there is none.
std::string demanding_fanouts_of(const BoundProblem& problem);

/// Of a problem that has no mapping: what to say where it has one without any `min_usage`. That
/// asks the most of each Einsum alone, and what all of them use at most may not join.
std::optional<NoMapping> blamed_usage(const Mapper& mapper, const BoundProblem& problem,
                                      const MapperOptions& options, const std::atomic<bool>* cancel,
                                      const NoMapping& no);

}  // namespace sluice
