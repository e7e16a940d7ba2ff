#pragma once

#include <vector>

#include "group_search.h"

namespace sluice::compound {

/// A group of consecutive Einsums that has been searched.
struct SearchedGroup {
  Group group;
  GroupResult result;
};

/// A whole mapping as its groups, in order.
struct CutMapping {
  PartCost cost;
  std::vector<const SearchedGroup*> groups;
  std::vector<const GroupMapping*> parts;
};

/// Every way of cutting the Einsums into groups, with every mapping of their fronts that can be
/// part of a best one; best first by the first objective, then energy, then latency.
std::vector<CutMapping> best_cuts(const std::vector<SearchedGroup>& groups, std::size_t n_einsums,
                                  const MapperOptions& options);

}  // namespace sluice::compound
