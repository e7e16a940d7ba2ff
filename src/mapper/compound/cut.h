#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "group_search.h"

namespace sluice::compound {

/// A group of consecutive Einsums, and what its search has found.
struct SearchedGroup {
  Group group;
  BoundProblem slice;              ///< the group as a problem of its own
  CostBounds bounds;               ///< of every mapping of the group
  std::optional<Effort> searched;  ///< how it was searched last
  GroupResult result;              ///< of all its searches
};

/// A whole mapping as its groups, in order.
struct CutMapping {
  PartCost cost;
  std::vector<const SearchedGroup*> groups;
  std::vector<const GroupMapping*> parts;
};

/// Every way of cutting the Einsums into groups, with every mapping of their fronts that can be
/// part of a best one (of one objective: of one that costs up to a tenth more); best first by the
/// first objective, then energy, then latency. Once `cancel` (may be null) is set: some of them.
std::vector<CutMapping> best_cuts(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                  const MapperOptions& options,
                                  const std::atomic<bool>* cancel = nullptr);

/// Per group: what no mapping that has it as one of its groups beats, as the first objective.
/// Groups that a search of this effort is through with count as what is known of them: it will not
/// find more. What another one has found is no bound.
std::vector<double> bounds_with(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                const MapperOptions& options, Effort effort);

}  // namespace sluice::compound
