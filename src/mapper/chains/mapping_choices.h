#pragma once

#include <optional>

#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"
#include "sluice/mapping/mapping.h"

namespace sluice::chains {

/// A mapping from elsewhere as choices of a space, which gets their templates where they are new;
/// nothing where the space has no such mapping: one with pipelines, collectives or uneven tiles,
/// say. `whole`: what it costs. Whether the choices cost the same is for the caller to see: of
/// templates that write the same nodes and loops, the cheapest is taken. Not safe while others use
/// the space.
std::optional<sampling::Genome> choices_of(const Mapping& mapping, const CostTotals& whole,
                                           sampling::MapSpace* space, sampling::FanoutUse* use);

}  // namespace sluice::chains
