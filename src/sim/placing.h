#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "program.h"

namespace sluice::sim {

/// Size of each variable's tile at some place of the tree (the largest over the Einsums).
using Tiles = std::map<RankVariableId, std::int64_t>;
Tiles whole_tiles(const Workload& workload);
/// The tiles inside a loop. A loop that stands for several variables leaves them as they are: each
/// Einsum takes one of them.
void narrow(Tiles& tiles, const Node& loop);

/// Whether a loop is none, because its tile is as large as the enclosing one.
bool has_one_step(const Node& loop, const Tiles& tiles);

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
PlacedList place(const Workload& workload, const Arch& arch, const NodeList& written,
                 const std::vector<std::pair<TensorId, EinsumSet>>& held, const Tiles& tiles);

}  // namespace sluice::sim
