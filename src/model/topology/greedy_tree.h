#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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
/// first (KAPLA's multicasts). `distances_from(a)(b)`: links between two nodes. In the order of
/// service.
template <class DistancesFrom>
std::vector<TreeBranch> greedy_tree(std::size_t n_sources, std::size_t n_nodes,
                                    const DistancesFrom& distances_from) {
  constexpr auto kServed = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> links(n_nodes, kServed);  ///< to the nearest node that is served
  std::vector<std::uint32_t> from(n_nodes, 0);
  std::vector<std::int64_t> depth(n_nodes, 0);
  for (std::uint32_t source = 0; source < n_sources; ++source) {
    const auto distance = distances_from(source);
    for (std::size_t node = n_sources; node < n_nodes; ++node)
      if (const auto hops = static_cast<std::int32_t>(distance(node)); hops < links[node]) {
        links[node] = hops;
        from[node] = source;
      }
  }
  std::vector<TreeBranch> served;
  served.reserve(n_nodes - n_sources);
  while (served.size() < n_nodes - n_sources) {
    std::int32_t nearest = kServed;
    for (std::size_t node = n_sources; node < n_nodes; ++node)
      nearest = std::min(nearest, links[node]);
    const auto next = static_cast<std::size_t>(
        std::find(links.begin() + static_cast<std::ptrdiff_t>(n_sources), links.end(), nearest) -
        links.begin());
    depth[next] = depth[from[next]] + links[next];
    served.push_back({from[next], next, links[next], depth[next]});
    links[next] = kServed;
    const auto distance = distances_from(next);
    for (std::size_t node = n_sources; node < n_nodes; ++node) {
      const auto hops = static_cast<std::int32_t>(distance(node));
      const bool is_nearer = links[node] != kServed && hops < links[node];
      links[node] = is_nearer ? hops : links[node];
      from[node] = is_nearer ? static_cast<std::uint32_t>(next) : from[node];
    }
  }
  return served;
}

}  // namespace sluice
