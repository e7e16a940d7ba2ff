#pragma once

#include "join.h"

namespace sluice::fused {

/// Writes a joined mapping out as one LoopTree: shared loops once, storage nodes at their level,
/// splits where the Einsums part.
Mapping build_mapping(
    const JoinContext& context, const std::vector<ChosenPmapping>& chosen,
    const std::vector<std::vector<std::int64_t>>& trips /* per Einsum, loop place */);

}  // namespace sluice::fused
