#pragma once

#include <vector>

#include "tile_search.h"

namespace sluice::fused {

/// What an Einsum costs at least, whatever it exchanges with others: energy (J) and latency (s),
/// each for itself, over all templates and tile shapes. `known`: energy and latency of pmappings in
/// hand, which the result does not exceed; what cannot be better is not looked at. `loose`: a bound
/// to fall back on where a sharper one would be too much work; of energy also where pmappings are
/// whole mappings.
EnergyLatency least_cost(const TileSearchContext& context, const std::vector<Template>& templates,
                         const std::vector<CompiledTemplate>& compiled, EnergyLatency known,
                         EnergyLatency loose);

}  // namespace sluice::fused
