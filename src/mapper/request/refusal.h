#pragma once

#include <optional>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// As refused_request (sluice/mapper/selection.h), without a word about other mappers.
std::optional<NoMapping> refused_alone(const Mapper& mapper, const BoundProblem& problem,
                                       const MapperOptions& options);

/// What the compiled expressions of `fused` leave out: other policies than `overlap`, networks that
/// cost anything, cycles of systolic arrays.
std::optional<UnpricedPart> not_compiled(const BoundProblem& problem, const MapperOptions& options);

}  // namespace sluice
