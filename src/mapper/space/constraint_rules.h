#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loop_places.h"
#include "order_rules.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {

/// Bounds of a variable's tile at one memory, in one Einsum's local indices.
struct TileRule {
  std::uint32_t variable = 0;
  ComponentId memory{};
  std::optional<std::uint64_t> tensors;  ///< at each of their nodes; else at the innermost node
  std::int64_t minimum = 1;
  std::int64_t maximum = 0;
  bool operator==(const TileRule&) const = default;
};

/// The tile constraints that concern an Einsum, in their order.
std::vector<TileRule> tile_rules(const Constraints& constraints, const EinsumShape& shape);

/// For each tile that a rule is about: per loop place, whether it stands above the tile's node, as
/// the mapping is written: a node that slides over a loop, or sinks through it, stands below it.
std::vector<std::vector<bool>> above_ruled_nodes(const Template& templ, const TileRule& rule);

/// The loop orders that concern an Einsum whose storage nodes stand in these groups.
std::vector<OrderRule> order_rules(const Constraints& constraints, const EinsumShape& shape,
                                   const SlotGroups& groups);

}  // namespace sluice::fused
