#include <algorithm>
#include <bit>

#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

/// Leaves a and b meet at the level of the highest bit in which they differ.
std::int64_t tree_hops(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to) {
  const auto differing =
      static_cast<std::uint64_t>(number_in_row(fanouts, from) ^ number_in_row(fanouts, to));
  return 2 * static_cast<std::int64_t>(std::bit_width(differing));
}

LineRoutes tree_from_entry(const NodeLine& row) {
  LineRoutes result;
  result.loads = {0, 0};
  int levels = 0;
  while ((std::int64_t{1} << levels) < row.length) ++levels;
  const std::vector<std::int64_t> members = row.offsets(false);
  for (const std::int64_t base : row.offsets(true)) {
    for (int level = 0; level < levels; ++level) {  // edges above the subtrees of 2^level leaves
      std::vector<std::int64_t> subtrees;
      for (const std::int64_t member : members) subtrees.push_back((base + member) >> level);
      std::sort(subtrees.begin(), subtrees.end());
      subtrees.erase(std::unique(subtrees.begin(), subtrees.end()), subtrees.end());
      result.half_hops += 2 * static_cast<std::int64_t>(subtrees.size());
      if (level + 1 < levels) continue;
      for (const std::int64_t subtree : subtrees) ++result.loads[static_cast<std::size_t>(subtree)];
    }
  }
  result.longest = levels;
  return result;
}

}  // namespace

/// A binary tree whose leaves are the nodes; values enter at its root.
const TopologyRoutes& tree_routes() {
  static constexpr TopologyRoutes kTree{Topology::kTree, tree_hops, tree_from_entry};
  return kTree;
}

}  // namespace sluice
