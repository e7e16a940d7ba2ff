#pragma once

#include <string>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// `kExchanges`: that of `fused`, `exhaustive` and the mappers that draw mappings; `kGroups`: that
/// of `compound` (docs/mappers.md).
enum class SearchSpace { kExchanges, kGroups };

/// The kinds of mappings that `evaluate` knows and this space has not, under these options.
std::vector<SpaceLimit> left_out(SearchSpace space, const BoundProblem& problem,
                                 const MapperOptions& options);

/// `incremental nodes, collectives`: the names.
std::string names_of(const std::vector<SpaceLimit>& limits);

/// All of them as a Markdown table (docs/mappers.md holds exactly this text).
std::string space_limits_as_markdown();

}  // namespace sluice
