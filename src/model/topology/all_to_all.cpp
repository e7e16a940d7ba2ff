#include "model/topology/topology_routes.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

std::int64_t all_to_all_hops(const Coordinates&, const Coordinates& from, const Coordinates& to) {
  return from == to ? 0 : 1;
}

LineRoutes all_to_all_from_entry(const NodeLine& row) {
  LineRoutes result;
  const std::int64_t nodes = checked_multiply(row.product(true), row.product(false));
  result.half_hops = 2 * (row.base == 0 ? nodes - 1 : nodes);
  result.longest = result.half_hops > 0 ? 1 : 0;
  result.loads = {result.longest};
  return result;
}

/// Each node has a link of its own, the place of the entry has none.
std::vector<std::int64_t> all_to_all_group_loads(const NodeLine& row) {
  std::vector<std::int64_t> loads;
  for (const std::int64_t member : row.offsets(false)) {
    const auto node = static_cast<std::size_t>(row.base + member);
    if (loads.size() <= node) loads.resize(node + 1);
    loads[node] = node > 0 ? 1 : 0;
  }
  return loads;
}

void walk_all_to_all(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to,
                     std::vector<std::int64_t>& links) {
  std::int64_t nodes = 1;
  for (const std::int64_t fanout : fanouts) nodes *= fanout;
  if (from != to)
    links.push_back(number_in_row(fanouts, from) * nodes + number_in_row(fanouts, to));
}

}  // namespace

/// Every node has a link of its own to every other one.
const TopologyRoutes& all_to_all_routes() {
  static constexpr TopologyRoutes kAllToAll{Topology::kAllToAll, all_to_all_hops,
                                            all_to_all_from_entry, all_to_all_group_loads,
                                            walk_all_to_all};
  return kAllToAll;
}

}  // namespace sluice
