#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// One node of a tree that is served from another one.
struct TreeBranch {
  std::size_t from = 0, to = 0;
  std::int64_t links = 0;  ///< between the two
  std::int64_t depth = 0;  ///< from the source
};

/// A tree from nodes 0 … `n_sources` − 1 to all others below `n_nodes`: again and again the node
/// that is nearest to any that is served, of equals the first one, from the one that was served
/// first (KAPLA's multicasts). `distance(a, b)`: links between two nodes. In the order of service.
template <class Distance>
std::vector<TreeBranch> greedy_tree(std::size_t n_sources, std::size_t n_nodes,
                                    const Distance& distance) {
  std::vector<TreeBranch> open, served;
  for (std::size_t node = n_sources; node < n_nodes; ++node) {
    TreeBranch branch{0, node, distance(std::size_t{0}, node), 0};
    for (std::size_t source = 1; source < n_sources; ++source)
      if (const std::int64_t links = distance(source, node); links < branch.links)
        branch = {source, node, links, 0};
    open.push_back(branch);
  }
  while (!open.empty()) {
    std::size_t next = 0;
    for (std::size_t o = 1; o < open.size(); ++o)
      if (open[o].links < open[next].links) next = o;
    TreeBranch branch = open[next];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
    branch.depth += branch.links;
    for (TreeBranch& other : open)
      if (const std::int64_t links = distance(branch.to, other.to); links < other.links)
        other = {branch.to, other.to, links, branch.depth};
    served.push_back(branch);
  }
  return served;
}

}  // namespace sluice
