#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "points.h"
#include "program.h"

namespace sluice::sim {

/// A loop node as a loop of the program, without what the tree around it says; none of another
/// node.
std::optional<LoopItem> as_loop(const Node& node);

/// The largest tile of every Einsum below some place of the tree.
using Tiles = std::map<EinsumId, Box>;
Tiles whole_tiles(const Workload& workload);
/// What is left of `tiles` in the largest step of a loop. Sets the numbers of steps.
Tiles enter_loop(const Workload& workload, LoopItem& loop, const Tiles& tiles);

/// The Einsums that are computed in a list.
EinsumSet einsums_in(const NodeList& list);

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
/// `tiles`: those of the Einsums in the list.
PlacedList place(const Workload& workload, const Arch& arch, const NodeList& written,
                 const std::vector<std::pair<TensorId, EinsumSet>>& held, const Tiles& tiles);

}  // namespace sluice::sim
