#pragma once

#include <functional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// A search whose prices know nothing of `partial_actions: whole`, in a machine that has it:
/// `search` is asked for a mapping of the machine in which parts of actions cost their part, where
/// nothing costs more. What it finds is priced by the model, and what it proves there is a bound
/// here: a proof only of a mapping that costs no more than that. Fronts are those of the mappings
/// found.
tl::expected<MapperResult, NoMapping> map_by_parts(
    const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
    const std::function<tl::expected<MapperResult, NoMapping>(
        const BoundProblem& parts, const MapperControl& control)>& search);

}  // namespace sluice
