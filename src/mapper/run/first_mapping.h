#pragma once

#include <atomic>
#include <optional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Whether a problem has a mapping at all.
struct Feasibility {
  bool has_mapping = false;
  std::optional<NoMapping> no;  ///< neither: the search ended before it was known
};

/// Searches no further than to the first mapping, at most so long.
Feasibility find_any(const Mapper& mapper, const BoundProblem& problem,
                     const MapperOptions& options, const std::atomic<bool>* cancel,
                     std::optional<double> seconds = std::nullopt);

/// Of a workload in which nothing was found: what is too small for some Einsum even alone, as far
/// as that shows within a moment. Constraints are left out of it.
std::optional<NoMapping> too_small_for_one(const Mapper& mapper, const BoundProblem& problem,
                                           const MapperOptions& options,
                                           const std::atomic<bool>* cancel);

/// Of a workload that has no mapping, as some memory is said to be too small for an Einsum: whether
/// that is so of the Einsum alone, and else another one of which it is. All constraints count but
/// those on fusion, splits and collectives. A moment for each Einsum.
NoMapping checked_alone(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options, const std::atomic<bool>* cancel,
                        NoMapping no);

}  // namespace sluice
