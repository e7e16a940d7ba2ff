#pragma once

#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/einsum_bounds.h"

namespace sluice {

/// Whether a spatial loop over the dimension may be over the variable.
bool may_spread(const BoundEinsum& einsum, const BoundSpatial& dimension, std::size_t variable);

/// Per place of the compute's path: the largest share, 0 to 1, of the instances further in, below
/// one instance there, that spatial loops of the Einsum can use at the same time. One entry more
/// than the path has, at the front: of all instances.
std::vector<double> largest_use_inside(const BoundProblem& problem, EinsumId einsum,
                                       const BoundCompute& compute, Factors factors);

/// What perfect factors use of the instances above a compute at most, as a share of what any
/// factors of the same variables do.
double use_by_perfect_factors(const BoundProblem& problem, EinsumId einsum,
                              const BoundCompute& compute);

/// Per variable of the Einsum: the product of the fanouts that spatial loops over it may use.
std::vector<double> widest_spread(const BoundProblem& problem, EinsumId einsum,
                                  const BoundCompute& compute);

}  // namespace sluice
