#pragma once

#include <vector>

#include "mapper/fused/exchange/row_groups.h"
#include "mapper/fused/tiles/tile_search.h"

namespace sluice::fused {

/// Collects the pmappings of one Einsum from its templates' results in `table` (whose templates are
/// filled in), by groups and pruned; some groups may stay empty.
void merge_results(const TileSearchContext& context, const std::vector<TemplateResult>& results,
                   const std::vector<CompiledTemplate>& compiled, const RowGroups& groups,
                   PmappingTable* table);

}  // namespace sluice::fused
