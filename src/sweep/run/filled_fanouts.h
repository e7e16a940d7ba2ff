#pragma once

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Whether a legal mapping uses every fanout above its computes as much as `min_usage` wants. Then
/// it belongs to the space whatever else fits; with less it does where nothing that fits uses more.
bool fills_fanouts(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
