#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

std::int64_t ring_hops(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to) {
  std::int64_t nodes = 1;
  for (const std::int64_t fanout : fanouts) nodes *= fanout;
  return hops_around(number_in_row(fanouts, from), number_in_row(fanouts, to), nodes);
}

LineRoutes ring_from_entry(const NodeLine& row) { return along_row(row, true); }

void walk_ring(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to,
               std::vector<std::int64_t>& links) {
  std::int64_t nodes = 1;
  for (const std::int64_t fanout : fanouts) nodes *= fanout;
  walk_links({nodes}, true, {number_in_row(fanouts, from)}, {number_in_row(fanouts, to)}, links);
}

}  // namespace

/// All nodes in one row, the shorter way round.
const TopologyRoutes& ring_routes() {
  static constexpr TopologyRoutes kRing{Topology::kRing, ring_hops, ring_from_entry, nullptr,
                                        walk_ring};
  return kRing;
}

}  // namespace sluice
