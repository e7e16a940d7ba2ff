#pragma once

#include "kapla/layer/layer_shape.h"
#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

using Fetches = std::array<PerOperand<std::int64_t>, 2>;

/// How often each tensor is fetched into the global buffer (0) and into the registers (1): once for
/// each step of the loops that do not change it and that stand outside the innermost one that does.
/// The tensor that is written comes and goes, but for the first time: 2n − 1.
Fetches fetches_of(const LayerShape& layer, const Scheme& scheme, const PerOperand<bool>& reusable);

/// The innermost of a level's loops with more than one step that the tensor depends on; kNoLoop:
/// none.
constexpr std::size_t kNoLoop = 3;
std::size_t innermost_dependent(const LayerShape& layer, Operand operand,
                                const PerLoop<std::int64_t>& steps,
                                const PerLoop<std::int64_t>& order);

/// Fetches without those that only write back: how often the tensor comes anew.
std::int64_t rounds_of(const LayerShape& layer, Operand operand, std::int64_t fetches);

}  // namespace sluice::kapla
