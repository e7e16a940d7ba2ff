#pragma once

#include <vector>

#include "mapper/fused/tiles/tile_search.h"

namespace sluice::fused {

/// Collects the pmappings of one Einsum from its templates' results in `table` (whose templates are
/// filled in): those of equal compatibility become one group, pruned. Returns per skeleton and row
/// whether it has a pmapping.
std::vector<std::vector<char>> merge_results(const TileSearchContext& context,
                                             const std::vector<TemplateResult>& results,
                                             const std::vector<CompiledTemplate>& compiled,
                                             PmappingTable* table);

}  // namespace sluice::fused
