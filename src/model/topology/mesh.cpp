#include <cstdlib>

#include "model/topology/topology_routes.h"

namespace sluice {
namespace {

std::int64_t mesh_hops(const Coordinates&, const Coordinates& from, const Coordinates& to) {
  std::int64_t hops = 0;
  for (std::size_t d = 0; d < from.size(); ++d) hops += std::abs(to[d] - from[d]);
  return hops;
}

LineRoutes mesh_from_entry(const NodeLine& line) { return along_row(line, false); }

void walk_mesh(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to,
               std::vector<std::int64_t>& links) {
  walk_links(fanouts, false, from, to, links);
}

}  // namespace

/// Dimension order, the first dimension first.
const TopologyRoutes& mesh_routes() {
  static constexpr TopologyRoutes kMesh{Topology::kMesh, mesh_hops, mesh_from_entry, nullptr,
                                        walk_mesh};
  return kMesh;
}

}  // namespace sluice
