#pragma once

#include "operand_energy.h"
#include "sluice/model/binding.h"

namespace sluice {

/// What fills the innermost memories of an Einsum's tensors, and what they hand back, takes at
/// least with perfect factors (J), beyond the compulsory traffic of the outermost memory: the least
/// over all orders of their nodes and all tile shapes that fit. Only of tensors that no other
/// Einsum uses, whose innermost memory is known and has a compute of its own for each instance. 0
/// where there are very many tile shapes.
double fill_energy(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                   const OperandQuestion& question);

}  // namespace sluice
