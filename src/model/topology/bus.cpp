#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

std::int64_t bus_hops(const Coordinates&, const Coordinates& from, const Coordinates& to) {
  return from == to ? 0 : 1;
}

LineRoutes bus_from_entry(const NodeLine& row) {
  const std::int64_t groups = row.product(true);
  return {.half_hops = 2 * groups, .longest = 1, .loads = {groups}};
}

}  // namespace

/// One medium that all hear: each value crosses it once.
const TopologyRoutes& bus_routes() {
  static constexpr TopologyRoutes kBus{Topology::kBus, bus_hops, bus_from_entry};
  return kBus;
}

}  // namespace sluice
