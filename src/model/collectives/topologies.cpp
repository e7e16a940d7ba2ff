#include "model/collectives/topologies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "sluice/support/error.h"

namespace sluice {
namespace {

using Coordinates = std::vector<std::int64_t>;

std::int64_t around(std::int64_t from, std::int64_t to, std::int64_t length) {
  const std::int64_t ahead = std::abs(to - from);
  return std::min(ahead, length - ahead);
}

std::int64_t mesh_hops(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to) {
  std::int64_t hops = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) hops += std::abs(to[d] - from[d]);
  return hops;
}

std::int64_t torus_hops(const Coordinates& fanouts, const Coordinates& from,
                        const Coordinates& to) {
  std::int64_t hops = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) hops += around(from[d], to[d], fanouts[d]);
  return hops;
}

/// Number of a node where all are in one row, the last dimension fastest.
std::int64_t in_a_row(const Coordinates& fanouts, const Coordinates& at) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < fanouts.size(); ++d) number = number * fanouts[d] + at[d];
  return number;
}

std::int64_t ring_hops(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to) {
  std::int64_t nodes = 1;
  for (std::int64_t fanout : fanouts) nodes *= fanout;
  return around(in_a_row(fanouts, from), in_a_row(fanouts, to), nodes);
}

/// Leaves a and b of a binary tree meet at the level of the highest bit in which they differ.
std::int64_t tree_hops(const Coordinates& fanouts, const Coordinates& from, const Coordinates& to) {
  const auto differing =
      static_cast<std::uint64_t>(in_a_row(fanouts, from) ^ in_a_row(fanouts, to));
  return 2 * static_cast<std::int64_t>(std::bit_width(differing));
}

std::int64_t one_hop(const Coordinates&, const Coordinates& from, const Coordinates& to) {
  return from == to ? 0 : 1;
}

constexpr std::array kTopologies = {
    CollectiveTopology{Topology::kMesh, "mesh", mesh_hops, false, true},
    CollectiveTopology{Topology::kTorus, "torus", torus_hops, false, true},
    CollectiveTopology{Topology::kRing, "ring", ring_hops, false, false},
    CollectiveTopology{Topology::kAllToAll, "all_to_all", one_hop, true, false},
    CollectiveTopology{Topology::kBus, "bus", one_hop, false, false},
    CollectiveTopology{Topology::kTree, "tree", tree_hops, false, false},
};

}  // namespace

const CollectiveTopology& collective_topology(Topology topology) {
  const auto* row = std::find_if(kTopologies.begin(), kTopologies.end(),
                                 [&](const auto& known) { return known.topology == topology; });
  SLUICE_CHECK(row != kTopologies.end(), "a topology without a row in kTopologies");
  return *row;
}

}  // namespace sluice
