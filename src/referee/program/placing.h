#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "program.h"
#include "referee/points/points.h"

namespace sluice::referee {

/// A loop node as a loop of the program, without what the tree around it says; none of another
/// node.
std::optional<LoopItem> as_loop(const Node& node);

/// The tile of every Einsum that has work at some place of the tree, in each situation in which the
/// place is reached. Situations that no loop can tell apart are one: a tile's position is kept only
/// where a reader's window on another Einsum's output depends on it.
using Tiles = std::set<std::map<EinsumId, Box>>;
Tiles whole_tiles(const Workload& workload);
/// The situations below a loop. Sets its numbers of steps: the most of any situation.
Tiles enter_loop(const Workload& workload, LoopItem& loop, const Tiles& tiles);
/// What is left of `tiles` for some of the Einsums.
Tiles tiles_of(const Workload& workload, const Tiles& tiles, const EinsumSet& einsums);

/// The Einsums that are computed in a list.
EinsumSet einsums_in(const NodeList& list);

/// Whether the sets have an Einsum in common.
bool meet(const EinsumSet& a, const EinsumSet& b);

/// Where a storage takes effect.
struct Place {
  std::size_t before = 0;                  ///< just above this node of the list
  std::optional<std::size_t> slides_over;  ///< the sliding window that it passes
  EinsumSet served;
  bool is_backing = false;
};

/// A list with one tensor a storage node, and the order in which its nodes take effect.
struct PlacedList {
  NodeList nodes;
  std::vector<Place> places;       ///< per node; meant for storages only
  std::vector<std::size_t> order;  ///< indices of `nodes`, outermost first
  EinsumSet einsums;
};

/// Places the storages of a list (model.md, "Normal form"). `held`: memories' storages above it.
/// `tiles`: those of the Einsums in the list. `residents_stay`: resident nodes stay where they are
/// written.
PlacedList place(const Workload& workload, const Arch& arch, const NodeList& written,
                 const std::vector<std::pair<TensorId, EinsumSet>>& held, const Tiles& tiles,
                 bool residents_stay);

}  // namespace sluice::referee
