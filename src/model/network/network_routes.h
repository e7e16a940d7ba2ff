#pragma once

#include <cstdint>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// One spatial loop over the instances behind a network, outermost first within its dimension.
struct RouteLoop {
  std::uint32_t dimension = 0;  ///< of the component whose instances are the network's nodes
  std::int64_t trips = 1;
  bool distinct = true;  ///< every step has values of its own; else the steps share them
};

/// What it takes to bring one value to (or from) every group of nodes that shares it. Values enter
/// at node 0 (with NetworkEntry::kEdge in the middle of every dimension but the first, between two
/// nodes where their number is even, half a hop from either; a tree's root, a bus's driver) and
/// take dimension-order routes, the first dimension first, the shorter way round a ring; the routes
/// to nodes that share a value are joined, and a reduction is the mirror image.
template <class Value>
struct BasicRoutes {
  Value groups{};         ///< distinct values
  Value deliveries{};     ///< nodes that receive one: messages
  Value half_hops{};      ///< twice Σ over groups of the links that the joined routes cross
  Value longest_route{};  ///< hops; half of one counts as one
  /// values over each link that leaves the entry; one of these is the most loaded link. Equal
  /// indices are equal links for every tensor of an Einsum.
  std::vector<Value> entry_loads;
};

struct Routes : BasicRoutes<std::int64_t> {
  Routes() { groups = deliveries = 1; }
  double value_hops() const { return static_cast<double>(half_hops) / 2; }
};

/// What routes depend on.
struct RouteQuestion {
  const Network& network;
  const std::vector<std::int64_t>& fanouts;  ///< extents of the network's dimensions
  const std::vector<RouteLoop>& loops;
  const std::vector<std::int64_t>& first;  ///< coordinates where the loops begin; empty: 0
};

/// Twice the coordinates of where values enter a mesh or torus.
std::vector<std::int64_t> doubled_entry(const Network& network,
                                        const std::vector<std::int64_t>& fanouts);

/// `fanouts`: extents of the network's dimensions. Loops use coordinates from `first` upwards
/// (empty: from 0; else no packed layout).
Routes routes_of(const Network& network, const std::vector<std::int64_t>& fanouts,
                 const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>& first = {});

/// The routes of one group: `steps[l]` is the step of each distinct loop.
Routes routes_of_group(const Network& network, const std::vector<std::int64_t>& fanouts,
                       const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>& steps,
                       const std::vector<std::int64_t>& first = {});

}  // namespace sluice
