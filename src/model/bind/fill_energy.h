#pragma once

#include "operand_costs.h"
#include "sluice/model/binding.h"

namespace sluice {

/// operand_costs() with perfect factors, and what fills the innermost memories, or what they hand
/// back, at least (J), beyond the compulsory traffic of the outermost memory: the least over all
/// memories that operands may come from, all orders of their nodes there, and all tile shapes that
/// fit. Fills only of tensors that no other Einsum uses, in memories that have a compute of its own
/// for each instance, and not where there are very many Einsums, memories, or tile shapes.
/// `operands_j`: the energy that operand_costs() says.
double filled_operand_energy(const BoundProblem& problem, EinsumId einsum,
                             const BoundCompute& compute, const OperandQuestion& question,
                             double operands_j);

}  // namespace sluice
