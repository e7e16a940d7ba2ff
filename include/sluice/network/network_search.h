#pragma once

#include "sluice/mapper/mapper.h"
#include "sluice/mapper/selection.h"
#include "sluice/network/layers_mapper.h"

namespace sluice {

/// run_mapper of the mapper chosen. Where the choice has one to begin with (MapperChoice::first),
/// that one has up to half of a budget (of short ones up to three quarters), a second without one,
/// and its mapping is the incumbent of the rest. What is left of a budget when the mapper ends by
/// itself has MapperChoice::then, also without one where it has no mapping and no proof. The result
/// is the better one's. `mappers` as in run_mapper.
tl::expected<MapperResult, NoMapping> search_network(const MapperChoice& choice,
                                                     const BoundProblem& problem,
                                                     const MapperOptions& options,
                                                     const MapperControl& control,
                                                     const MapperRegistry& mappers = all_mappers());

}  // namespace sluice
