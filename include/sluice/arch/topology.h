#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// How the nodes of a network are linked. A new one is an enumerator here, a row of kTopologies, a
/// file in src/model/topology, and a row in src/referee/topology (CONTRIBUTING.md).
enum class Topology : std::uint8_t { kMesh, kTorus, kRing, kAllToAll, kBus, kTree };

/// What every module knows of a topology.
struct TopologyFacts {
  Topology topology;
  const char* name;              ///< in spec files
  bool is_grid = false;          ///< rows along every dimension; routes take one after the other
  bool has_edges = false;        ///< rows have two ends: `entry: edge`, `layout: packed`
  bool links_all_pairs = false;  ///< a link of its own between any two nodes
  bool links_nodes = false;      ///< nodes are linked to each other: any may be a port
};

/// In the order of the enumerators.
inline constexpr TopologyFacts kTopologies[] = {
    {.topology = Topology::kMesh,
     .name = "mesh",
     .is_grid = true,
     .has_edges = true,
     .links_nodes = true},
    {.topology = Topology::kTorus, .name = "torus", .is_grid = true, .links_nodes = true},
    {.topology = Topology::kRing, .name = "ring", .links_nodes = true},
    {.topology = Topology::kAllToAll,
     .name = "all_to_all",
     .links_all_pairs = true,
     .links_nodes = true},
    {.topology = Topology::kBus, .name = "bus"},
    {.topology = Topology::kTree, .name = "tree"},
};

constexpr const TopologyFacts& facts_of(Topology topology) {
  return kTopologies[static_cast<std::size_t>(topology)];
}

}  // namespace sluice
