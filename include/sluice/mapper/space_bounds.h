#pragma once

#include "sluice/mapper/mapper.h"
#include "sluice/model/cost_bounds.h"

namespace sluice {

/// What factors tiles may have with these options.
Factors factors_of(const MapperOptions& options);

/// Whether all mappings of the mapper's space run one Einsum at a time.
bool is_sequential(const Mapper& mapper, const BoundProblem& problem);

/// Lower bounds of every mapping in the mapper's space (J, s): no less than `problem.bounds`,
/// unless the space has Einsums that run at the same time.
CostBounds space_bounds(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options);

}  // namespace sluice
