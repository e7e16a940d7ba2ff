#pragma once

#include "model/network/network_routes.h"

namespace sluice {

/// Whether the instances stand where NodeLayout::kAligned puts them, too: the loops of each
/// dimension fill it, and stand inside those of the next one.
bool fills_dimensions(const std::vector<std::int64_t>& fanouts,
                      const std::vector<RouteLoop>& loops);

/// As routes_of and, where `steps` is not null, routes_of_group, on a mesh with
/// NodeLayout::kPacked: node by node.
Routes packed_routes(const Network& network, const std::vector<std::int64_t>& fanouts,
                     const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>* steps);

}  // namespace sluice
