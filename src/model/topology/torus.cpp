#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

std::int64_t torus_hops(const Coordinates& fanouts, const Coordinates& from,
                        const Coordinates& to) {
  std::int64_t hops = 0;
  for (std::size_t d = 0; d < from.size(); ++d) hops += hops_around(from[d], to[d], fanouts[d]);
  return hops;
}

LineRoutes torus_from_entry(const NodeLine& line) { return along_row(line, true); }

void walk_torus(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to,
                std::vector<std::int64_t>& links) {
  walk_links(fanouts, true, from, to, links);
}

}  // namespace

/// Dimension order, the shorter way round each dimension.
const TopologyRoutes& torus_routes() {
  static constexpr TopologyRoutes kTorus{Topology::kTorus, torus_hops, torus_from_entry, nullptr,
                                         walk_torus};
  return kTorus;
}

}  // namespace sluice
