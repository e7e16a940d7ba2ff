#include "model/topology/topology_routes.h"

#include <array>

#include "sluice/support/error.h"

namespace sluice {

// mesh.cpp, torus.cpp, …
const TopologyRoutes& mesh_routes();
const TopologyRoutes& torus_routes();
const TopologyRoutes& ring_routes();
const TopologyRoutes& all_to_all_routes();
const TopologyRoutes& bus_routes();
const TopologyRoutes& tree_routes();

const TopologyRoutes& routes_over(Topology topology) {
  static const std::array kTable = {&mesh_routes(),       &torus_routes(), &ring_routes(),
                                    &all_to_all_routes(), &bus_routes(),   &tree_routes()};
  static_assert(kTable.size() == std::size(kTopologies), "a topology without routes");
  const TopologyRoutes& routes = *kTable[static_cast<std::size_t>(topology)];
  SLUICE_CHECK(routes.topology == topology, "routes out of the order of the enumerators");
  return routes;
}

}  // namespace sluice
