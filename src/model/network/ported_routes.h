#pragma once

#include "model/network/network_routes.h"

namespace sluice {

/// As routes_of and, where `steps` is not null, routes_of_group, on a network with ports or greedy
/// trees (`has_ported_routes`): group by group, link by link.
Routes ported_routes(const RouteQuestion& asked, const std::vector<std::int64_t>* steps);

}  // namespace sluice
