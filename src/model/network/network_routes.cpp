#include "model/network/network_routes.h"

#include <algorithm>
#include <map>

#include "model/network/network_packed.h"
#include "model/network/ported_routes.h"
#include "model/topology/ports.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// `steps` may be null; else the distinct loops stand at these steps and only move the base.
std::vector<NodeLine> lines_of(const std::vector<std::int64_t>& fanouts,
                               const std::vector<RouteLoop>& loops,
                               const std::vector<std::int64_t>* steps,
                               const std::vector<std::int64_t>& first) {
  std::vector<NodeLine> lines(fanouts.size());
  for (std::size_t d = 0; d < fanouts.size(); ++d) lines[d].length = fanouts[d];
  for (std::size_t d = 0; d < first.size(); ++d) lines[d].base = first[d];
  std::vector<std::int64_t> stride(fanouts.size(), 1);
  for (std::size_t l = loops.size(); l-- > 0;) {
    const RouteLoop& loop = loops[l];
    NodeLine& line = lines[loop.dimension];
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
NodeLine flattened(const std::vector<NodeLine>& lines) {
  NodeLine row;
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

struct Checked {
  using Value = std::int64_t;
  static Value constant(std::int64_t value) { return value; }
  static Value multiply(Value a, Value b) { return checked_multiply(a, b); }
  static Value add(Value a, Value b) { return checked_add(a, b); }
};

BasicRoutes<std::int64_t> dimension_order(const std::vector<NodeLine>& lines,
                                          const TopologyRoutes& topology) {
  std::vector<RouteLine<std::int64_t>> joined;
  for (const NodeLine& line : lines)
    joined.push_back({topology.from_entry(line), line.product(true), line.product(false),
                      2 * line.base == line.doubled_entry});
  Checked arithmetic;
  return join_lines(arithmetic, joined);
}

void place_entries(const Network& network, const std::vector<std::int64_t>& fanouts,
                   std::vector<NodeLine>& lines) {
  const std::vector<std::int64_t> entry = doubled_entry(network, fanouts);
  for (std::size_t d = 0; d < lines.size(); ++d) lines[d].doubled_entry = entry[d];
}

Routes join_routes(const Network& network, const std::vector<std::int64_t>& fanouts,
                   std::vector<NodeLine> lines) {
  place_entries(network, fanouts, lines);
  const TopologyRoutes& topology = routes_over(network.topology);
  Routes routes;
  if (go_by_dimension(network)) {
    static_cast<BasicRoutes<std::int64_t>&>(routes) = dimension_order(lines, topology);
    routes.groups = routes.deliveries = 1;
  } else {
    const LineRoutes all = topology.from_entry(flattened(lines));
    routes.half_hops = all.half_hops;
    routes.longest_route = all.longest;
    routes.entry_loads = all.loads;
  }
  for (const NodeLine& line : lines) {
    routes.groups = checked_multiply(routes.groups, line.product(true));
    routes.deliveries =
        checked_multiply(routes.deliveries, line.product(true) * line.product(false));
  }
  return routes;
}

}  // namespace

bool go_by_dimension(const Network& network) {
  return facts_of(network.topology).is_grid && !has_ported_routes(network);
}

LineRoutes routes_along(const RouteQuestion& asked, std::uint32_t dimension) {
  std::vector<NodeLine> lines = lines_of(asked.fanouts, asked.loops, nullptr, asked.first);
  place_entries(asked.network, asked.fanouts, lines);
  return routes_over(asked.network.topology).from_entry(lines[dimension]);
}

std::vector<std::int64_t> doubled_entry(const Network& network,
                                        const std::vector<std::int64_t>& fanouts) {
  std::vector<std::int64_t> entry(fanouts.size(), 0);
  if (network.entry == NetworkEntry::kEdge)
    for (std::size_t d = 1; d < fanouts.size(); ++d) entry[d] = fanouts[d] - 1;
  return entry;
}

namespace {

Routes find_routes(const RouteQuestion& asked) {
  if (has_ported_routes(asked.network)) return ported_routes(asked, nullptr);
  if (asked.network.layout == NodeLayout::kPacked && !fills_dimensions(asked.fanouts, asked.loops))
    return packed_routes(asked.network, asked.fanouts, asked.loops, nullptr);
  return join_routes(asked.network, asked.fanouts,
                     lines_of(asked.fanouts, asked.loops, nullptr, asked.first));
}

void add_with_size(const std::vector<std::int64_t>& numbers, std::vector<std::int64_t>& key) {
  key.push_back(static_cast<std::int64_t>(numbers.size()));
  key.insert(key.end(), numbers.begin(), numbers.end());
}

}  // namespace

Routes routes_of(const RouteQuestion& asked) {
  // A search asks for the same few routes again and again.
  constexpr std::size_t kMostRemembered = 4096;
  thread_local std::map<std::vector<std::int64_t>, Routes> remembered;
  thread_local std::vector<std::int64_t> key;
  const Network& network = asked.network;
  key = {static_cast<std::int64_t>(network.topology),
         static_cast<std::int64_t>(network.entry),
         static_cast<std::int64_t>(network.layout),
         static_cast<std::int64_t>(network.multicast),
         static_cast<std::int64_t>(network.ports.places),
         static_cast<std::int64_t>(asked.gathers),
         static_cast<std::int64_t>(network.ports.nodes.size())};
  for (const std::vector<std::int64_t>& port : network.ports.nodes) add_with_size(port, key);
  add_with_size(asked.fanouts, key);
  add_with_size(asked.first, key);
  for (const RouteLoop& loop : asked.loops)
    key.insert(key.end(), {static_cast<std::int64_t>(loop.dimension), loop.trips, loop.distinct});
  if (const auto known = remembered.find(key); known != remembered.end()) return known->second;
  if (remembered.size() == kMostRemembered) remembered.clear();
  return remembered.emplace(key, find_routes(asked)).first->second;
}

Routes routes_of_group(const RouteQuestion& asked, const std::vector<std::int64_t>& steps) {
  if (has_ported_routes(asked.network)) return ported_routes(asked, &steps);
  if (asked.network.layout == NodeLayout::kPacked && !fills_dimensions(asked.fanouts, asked.loops))
    return packed_routes(asked.network, asked.fanouts, asked.loops, &steps);
  const std::vector<NodeLine> lines = lines_of(asked.fanouts, asked.loops, &steps, asked.first);
  Routes routes = join_routes(asked.network, asked.fanouts, lines);
  if (const auto group_loads = routes_over(asked.network.topology).group_loads)
    routes.entry_loads = group_loads(flattened(lines));
  return routes;
}

}  // namespace sluice
