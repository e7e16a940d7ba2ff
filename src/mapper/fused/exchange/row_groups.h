#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "exchange_space.h"

namespace sluice::fused {

/// The compatibilities of one Einsum's exchanges: rows of any skeleton that agree on loops and
/// backings are one group, in the order of skeletons and rows.
struct RowGroups {
  std::vector<PmappingGroup> groups;               ///< no pmapping yet
  std::vector<std::vector<std::uint32_t>> of_row;  ///< per skeleton and row
  /// Per group: the one whose pmappings it has. Groups besides those of `of_row` say otherwise in
  /// which persistent copies' room shared tensors lie (kept_in_other_ways).
  std::vector<std::uint32_t> like;
};

/// `cancel`: once it is set, groups are left out.
RowGroups group_rows(const BoundProblem& problem, const EinsumShape& shape,
                     const std::vector<Template>& templates, const ExchangeSpace& space,
                     std::size_t n_tracked, int threads, const std::atomic<bool>* cancel);

/// Drops all groups but some (ascending; with each the one that it is like), and the rows of the
/// others: their places in `kept` are their numbers from now on.
void keep_groups(const std::vector<std::uint32_t>& kept, RowGroups* rows, ExchangeSpace* space);

}  // namespace sluice::fused
