#pragma once

#include <cstdint>
#include <vector>

#include "tile_search.h"

namespace sluice::fused {

/// Which rows of its skeleton a template may have tile shapes for, as far as bounds tell; in
/// `possible` (per row) they are set to 1, others are left.
void mark_promising(const TileSearchContext& context, const CompiledTemplate& compiled,
                    std::uint32_t template_index, std::vector<char>* possible);

/// Which trip counts of the fused loops of each class some of these templates may have tile shapes
/// for, as far as bounds tell that know nothing of the other classes. All templates of a skeleton.
std::vector<TripFilter> trip_filters(const TileSearchContext& context,
                                     const std::vector<CompiledTemplate>& compiled,
                                     const std::vector<std::uint32_t>& templates);

/// What each row of its skeleton costs at least with a template; in `least` (per row; infinite:
/// none known) lower values are put down.
void bound_rows(const TileSearchContext& context, const CompiledTemplate& compiled,
                std::uint32_t template_index, std::vector<EnergyLatency>* least);

}  // namespace sluice::fused
