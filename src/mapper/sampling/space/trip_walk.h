#pragma once

#include <functional>

#include "map_space.h"

namespace sluice::sampling {

/// Every way of sharing out the variables of an Einsum among the loop places of a template within
/// its limits (MapSpace::keeps_limits), large trip counts of outer loops first. `fixed`: per loop
/// place a trip count that is given, or 0. Stops when `visit` returns false, when `cancelled`,
/// which is asked now and then, returns true, or after so many steps, dead ends included.
void walk_trips(const MapSpace& space, std::size_t einsum, std::uint32_t templ, const Trips& fixed,
                std::uint64_t most_steps, const std::function<bool()>& cancelled,
                const std::function<bool(const Trips&)>& visit);

}  // namespace sluice::sampling
