#include "model/network/network_routes.h"

#include <algorithm>
#include <map>

#include "model/network/network_packed.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// One line of nodes: a dimension of a mesh or torus, or all nodes of a network in one row.
struct Line {
  std::int64_t length = 1;  ///< nodes that exist
  std::vector<RouteLoop> loops;
  std::vector<std::int64_t> strides;  ///< distance between the nodes of two steps, per loop
  std::int64_t base = 0;              ///< where loops of fixed step have led to
  std::int64_t doubled_entry = 0;     ///< twice the place where values enter

  std::int64_t product(bool distinct) const {
    std::int64_t result = 1;
    for (const RouteLoop& loop : loops)
      if (loop.distinct == distinct) result = checked_multiply(result, loop.trips);
    return result;
  }

  /// Coordinates that the loops with this `distinct` reach, in any order.
  std::vector<std::int64_t> offsets(bool distinct) const {
    std::vector<std::int64_t> result = {distinct ? base : 0};
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (loops[l].distinct != distinct) continue;
      std::vector<std::int64_t> next;
      for (std::int64_t offset : result)
        for (std::int64_t i = 0; i < loops[l].trips; ++i) next.push_back(offset + i * strides[l]);
      result = std::move(next);
    }
    return result;
  }
};

/// Routes along a row of nodes, open (mesh) or closed (torus, ring): from the entry the shorter
/// way.
LineRoutes along_row(const Line& line, bool closed) {
  LineRoutes result;
  result.loads = {0, 0};
  const std::vector<std::int64_t> members = line.offsets(false);
  for (std::int64_t base : line.offsets(true)) {
    std::int64_t forward = 0, backward = 0;  // twice the hops
    for (std::int64_t member : members) {
      const std::int64_t node = base + member;
      if (closed && node > line.length / 2)
        backward = std::max(backward, 2 * (line.length - node));
      else
        forward = std::max(forward, 2 * node - line.doubled_entry);
      backward = std::max(backward, line.doubled_entry - 2 * node);
    }
    result.half_hops += forward + backward;
    result.longest = std::max({result.longest, (forward + 1) / 2, (backward + 1) / 2});
    result.loads[0] += forward > 0 ? 1 : 0;
    result.loads[1] += backward > 0 ? 1 : 0;
  }
  return result;
}

/// A binary tree over the nodes; the root is the entry.
LineRoutes down_a_tree(const Line& line) {
  LineRoutes result;
  result.loads = {0, 0};
  int levels = 0;
  while ((std::int64_t{1} << levels) < line.length) ++levels;
  const std::vector<std::int64_t> members = line.offsets(false);
  for (std::int64_t base : line.offsets(true)) {
    for (int level = 0; level < levels; ++level) {  // edges above the subtrees of 2^level leaves
      std::vector<std::int64_t> subtrees;
      for (std::int64_t member : members) subtrees.push_back((base + member) >> level);
      std::sort(subtrees.begin(), subtrees.end());
      subtrees.erase(std::unique(subtrees.begin(), subtrees.end()), subtrees.end());
      result.half_hops += 2 * static_cast<std::int64_t>(subtrees.size());
      if (level + 1 < levels) continue;
      for (std::int64_t subtree : subtrees) ++result.loads[static_cast<std::size_t>(subtree)];
    }
  }
  result.longest = levels;
  return result;
}

/// Every node has a link of its own to every other one.
LineRoutes direct(const Line& line) {
  LineRoutes result;
  const std::int64_t nodes = checked_multiply(line.product(true), line.product(false));
  result.half_hops = 2 * (line.base == 0 ? nodes - 1 : nodes);
  result.longest = result.half_hops > 0 ? 1 : 0;
  result.loads = {result.longest};
  return result;
}

/// Loads of the links of one group: each node has its own, the place of the entry has none.
std::vector<std::int64_t> links_to_nodes(const Line& row) {
  std::vector<std::int64_t> loads;
  for (std::int64_t member : row.offsets(false)) {
    const auto node = static_cast<std::size_t>(row.base + member);
    if (loads.size() <= node) loads.resize(node + 1);
    loads[node] = node > 0 ? 1 : 0;
  }
  return loads;
}

/// One medium that all hear: each value crosses it once.
LineRoutes over_a_bus(const Line& line) {
  LineRoutes result;
  const std::int64_t groups = line.product(true);
  result.half_hops = 2 * groups;
  result.longest = 1;
  result.loads = {groups};
  return result;
}

/// `steps` may be null; else the distinct loops stand at these steps and only move the base.
std::vector<Line> lines_of(const std::vector<std::int64_t>& fanouts,
                           const std::vector<RouteLoop>& loops,
                           const std::vector<std::int64_t>* steps,
                           const std::vector<std::int64_t>& first) {
  std::vector<Line> lines(fanouts.size());
  for (std::size_t d = 0; d < fanouts.size(); ++d) lines[d].length = fanouts[d];
  for (std::size_t d = 0; d < first.size(); ++d) lines[d].base = first[d];
  std::vector<std::int64_t> stride(fanouts.size(), 1);
  for (std::size_t l = loops.size(); l-- > 0;) {
    const RouteLoop& loop = loops[l];
    Line& line = lines[loop.dimension];
    if (steps && loop.distinct) {
      line.base += (*steps)[l] * stride[loop.dimension];
    } else {
      line.loops.insert(line.loops.begin(), loop);
      line.strides.insert(line.strides.begin(), stride[loop.dimension]);
    }
    stride[loop.dimension] = checked_multiply(stride[loop.dimension], loop.trips);
  }
  return lines;
}

/// All nodes in one row, the last dimension fastest.
Line flattened(const std::vector<Line>& lines) {
  Line row;
  std::int64_t stride = 1;
  for (std::size_t d = lines.size(); d-- > 0;) {
    for (std::size_t l = 0; l < lines[d].loops.size(); ++l) {
      row.loops.push_back(lines[d].loops[l]);
      row.strides.push_back(checked_multiply(lines[d].strides[l], stride));
    }
    row.base += lines[d].base * stride;
    stride = checked_multiply(stride, lines[d].length);
  }
  row.length = stride;
  return row;
}

LineRoutes over_all_nodes(Topology topology, const Line& row) {
  switch (topology) {
    case Topology::kRing:
      return along_row(row, true);
    case Topology::kTree:
      return down_a_tree(row);
    case Topology::kBus:
      return over_a_bus(row);
    case Topology::kMesh:
    case Topology::kTorus:
    case Topology::kAllToAll:
      break;
  }
  return direct(row);
}

struct Checked {
  using Value = std::int64_t;
  static Value constant(std::int64_t value) { return value; }
  static Value multiply(Value a, Value b) { return checked_multiply(a, b); }
  static Value add(Value a, Value b) { return checked_add(a, b); }
};

BasicRoutes<std::int64_t> dimension_order(const std::vector<Line>& lines, bool closed) {
  std::vector<RouteLine<std::int64_t>> joined;
  for (const Line& line : lines)
    joined.push_back({along_row(line, closed), line.product(true), line.product(false),
                      2 * line.base == line.doubled_entry});
  Checked arithmetic;
  return join_lines(arithmetic, joined);
}

void place_entries(const Network& network, const std::vector<std::int64_t>& fanouts,
                   std::vector<Line>& lines) {
  const std::vector<std::int64_t> entry = doubled_entry(network, fanouts);
  for (std::size_t d = 0; d < lines.size(); ++d) lines[d].doubled_entry = entry[d];
}

Routes routes_over(const Network& network, const std::vector<std::int64_t>& fanouts,
                   std::vector<Line> lines) {
  place_entries(network, fanouts, lines);
  Routes routes;
  if (go_by_dimension(network)) {
    static_cast<BasicRoutes<std::int64_t>&>(routes) =
        dimension_order(lines, network.topology == Topology::kTorus);
    routes.groups = routes.deliveries = 1;
  } else {
    const LineRoutes all = over_all_nodes(network.topology, flattened(lines));
    routes.half_hops = all.half_hops;
    routes.longest_route = all.longest;
    routes.entry_loads = all.loads;
  }
  for (const Line& line : lines) {
    routes.groups = checked_multiply(routes.groups, line.product(true));
    routes.deliveries =
        checked_multiply(routes.deliveries, line.product(true) * line.product(false));
  }
  return routes;
}

}  // namespace

bool go_by_dimension(const Network& network) {
  return network.topology == Topology::kMesh || network.topology == Topology::kTorus;
}

LineRoutes routes_along(const RouteQuestion& asked, std::uint32_t dimension) {
  std::vector<Line> lines = lines_of(asked.fanouts, asked.loops, nullptr, asked.first);
  place_entries(asked.network, asked.fanouts, lines);
  return along_row(lines[dimension], asked.network.topology == Topology::kTorus);
}

std::vector<std::int64_t> doubled_entry(const Network& network,
                                        const std::vector<std::int64_t>& fanouts) {
  std::vector<std::int64_t> entry(fanouts.size(), 0);
  if (network.entry == NetworkEntry::kEdge)
    for (std::size_t d = 1; d < fanouts.size(); ++d) entry[d] = fanouts[d] - 1;
  return entry;
}

namespace {

Routes find_routes(const Network& network, const std::vector<std::int64_t>& fanouts,
                   const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>& first) {
  if (network.layout == NodeLayout::kPacked && !fills_dimensions(fanouts, loops))
    return packed_routes(network, fanouts, loops, nullptr);
  return routes_over(network, fanouts, lines_of(fanouts, loops, nullptr, first));
}

}  // namespace

Routes routes_of(const Network& network, const std::vector<std::int64_t>& fanouts,
                 const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>& first) {
  // A search asks for the same few routes again and again.
  constexpr std::size_t kMostRemembered = 4096;
  thread_local std::map<std::vector<std::int64_t>, Routes> remembered;
  thread_local std::vector<std::int64_t> key;
  key = {static_cast<std::int64_t>(network.topology), static_cast<std::int64_t>(network.entry),
         static_cast<std::int64_t>(network.layout), static_cast<std::int64_t>(fanouts.size())};
  key.insert(key.end(), fanouts.begin(), fanouts.end());
  key.push_back(static_cast<std::int64_t>(first.size()));
  key.insert(key.end(), first.begin(), first.end());
  for (const RouteLoop& loop : loops)
    key.insert(key.end(), {static_cast<std::int64_t>(loop.dimension), loop.trips, loop.distinct});
  if (const auto known = remembered.find(key); known != remembered.end()) return known->second;
  if (remembered.size() == kMostRemembered) remembered.clear();
  return remembered.emplace(key, find_routes(network, fanouts, loops, first)).first->second;
}

Routes routes_of_group(const Network& network, const std::vector<std::int64_t>& fanouts,
                       const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>& steps,
                       const std::vector<std::int64_t>& first) {
  if (network.layout == NodeLayout::kPacked && !fills_dimensions(fanouts, loops))
    return packed_routes(network, fanouts, loops, &steps);
  const std::vector<Line> lines = lines_of(fanouts, loops, &steps, first);
  Routes routes = routes_over(network, fanouts, lines);
  if (network.topology == Topology::kAllToAll)
    routes.entry_loads = links_to_nodes(flattened(lines));
  return routes;
}

}  // namespace sluice
