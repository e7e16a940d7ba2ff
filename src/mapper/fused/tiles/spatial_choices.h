#pragma once

#include <cstdint>
#include <vector>

#include "mapper/fused/states/state_tables.h"
#include "sluice/arch/arch.h"

namespace sluice::fused {

/// A dimension of a spatial fanout.
struct FanoutDimension {
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::int64_t instances = 1;
};

/// All choices of trip counts for the spatial loops of one class: the first loops of its trie.
struct SpatialChoices {
  std::vector<std::uint32_t> nodes;  ///< of the trie
  std::vector<std::int64_t> use;     ///< per node: of every fanout
};

/// `loops`: of the trie, in its order. `fanouts`: the others do not count.
SpatialChoices spatial_choices(const StateTrie& trie, const ClassStates& states,
                               const std::vector<ClassLoop>& loops,
                               const std::vector<std::uint32_t>& order,
                               const std::vector<FanoutDimension>& fanouts);

/// Whether no more choices of all classes together, or of the first ones, use no more of any fanout
/// than there is. Stops counting where there are more.
bool are_at_most(double most, const std::vector<SpatialChoices>& classes,
                 const std::vector<FanoutDimension>& fanouts);

/// The dimensions of all spatial fanouts.
std::vector<FanoutDimension> fanouts_of(const BoundEinsum& bound);

/// A number among the fanouts; their number: none of them.
std::size_t fanout_of(const ClassLoop& loop, const std::vector<FanoutDimension>& fanouts);

}  // namespace sluice::fused
