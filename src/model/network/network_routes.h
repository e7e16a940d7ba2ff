#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/topology/node_line.h"

namespace sluice {

/// What it takes to bring one value to (or from) every group of nodes that shares it. Values enter
/// at node 0 (with NetworkEntry::kEdge in the middle of every dimension but the first, between two
/// nodes where their number is even, half a hop from either; a tree's root, a bus's driver) and
/// take dimension-order routes, the first dimension first, the shorter way round a ring; the routes
/// to nodes that share a value are joined, and a reduction is the mirror image. With several ports
/// or greedy trees, see ported_routes.h.
template <class Value>
struct BasicRoutes {
  Value groups{};         ///< distinct values
  Value deliveries{};     ///< nodes that receive one: messages
  Value half_hops{};      ///< twice Σ over groups of the links that the joined routes cross
  Value longest_route{};  ///< hops; half of one counts as one
  /// values over each link that leaves the entry (or over all links); one of these is the most
  /// loaded link. Equal indices are equal links for every tensor of an Einsum.
  std::vector<Value> entry_loads;
};

struct Routes : BasicRoutes<std::int64_t> {
  Routes() { groups = deliveries = 1; }
  double value_hops() const { return static_cast<double>(half_hops) / 2; }
};

/// What routes depend on.
struct RouteQuestion {
  const Network& network;
  const std::vector<std::int64_t>& fanouts;  ///< extents of the network's dimensions
  const std::vector<RouteLoop>& loops;
  const std::vector<std::int64_t>& first = kFromZero;  ///< coordinates where the loops begin
  bool gathers = false;                                ///< a reduction; else a multicast
  static inline const std::vector<std::int64_t> kFromZero = {};
};

/// A dimension of a grid, with the loops over it.
template <class Value>
struct RouteLine {
  BasicLineRoutes<Value> along;
  Value groups{};      ///< product of its distinct loops
  Value members{};     ///< and of those whose steps share values
  bool entry = false;  ///< its loops begin where values enter
};

/// Whether routes go along one dimension after the other: grids.
bool go_by_dimension(const Network& network);

/// Along one dimension alone: loops over others do not count.
LineRoutes routes_along(const RouteQuestion& asked, std::uint32_t dimension);

/// Dimension-order: along the first dimension in the entry's row of the others, then from each node
/// reached there along the second, and so on. Without `groups` and `deliveries`.
template <class Arithmetic>
BasicRoutes<typename Arithmetic::Value> join_lines(
    Arithmetic& arithmetic, const std::vector<RouteLine<typename Arithmetic::Value>>& lines) {
  using Value = typename Arithmetic::Value;
  BasicRoutes<Value> routes;
  routes.half_hops = routes.longest_route = arithmetic.constant(0);
  bool through_entry = true;
  for (std::size_t d = 0; d < lines.size(); ++d) {
    Value branches = arithmetic.constant(1), groups_behind = arithmetic.constant(1);
    for (std::size_t other = 0; other < lines.size(); ++other) {
      if (other < d) branches = arithmetic.multiply(std::move(branches), lines[other].members);
      if (other != d) branches = arithmetic.multiply(std::move(branches), lines[other].groups);
      if (other > d)
        groups_behind = arithmetic.multiply(std::move(groups_behind), lines[other].groups);
    }
    const BasicLineRoutes<Value>& along = lines[d].along;
    routes.half_hops = arithmetic.add(std::move(routes.half_hops),
                                      arithmetic.multiply(std::move(branches), along.half_hops));
    routes.longest_route = arithmetic.add(std::move(routes.longest_route), along.longest);
    for (const Value& load : along.loads)
      routes.entry_loads.push_back(through_entry ? arithmetic.multiply(groups_behind, load)
                                                 : arithmetic.constant(0));
    through_entry &= lines[d].entry;
  }
  return routes;
}

/// Twice the coordinates of where values enter a mesh or torus.
std::vector<std::int64_t> doubled_entry(const Network& network,
                                        const std::vector<std::int64_t>& fanouts);

/// All routes. Where loops begin elsewhere than at 0 there is no packed layout.
Routes routes_of(const RouteQuestion& asked);

/// The routes of one group: `steps[l]` is the step of each distinct loop.
Routes routes_of_group(const RouteQuestion& asked, const std::vector<std::int64_t>& steps);

}  // namespace sluice
