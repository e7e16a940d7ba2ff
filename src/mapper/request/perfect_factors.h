#pragma once

#include <optional>

#include "sluice/mapper/mapper.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// A note where tiles that divide the sizes keep the computes from half of what they could do or
/// more, and the mapper could try others (`imperfect_factors`): else the user wonders about a
/// proven optimum that is far from the bounds.
std::optional<Diagnostic> note_of_perfect_factors(const Mapper& mapper, const BoundProblem& problem,
                                                  const MapperOptions& options);

}  // namespace sluice
