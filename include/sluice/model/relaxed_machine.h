#pragma once

#include <optional>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

/// What compute takes from (or hands to) memories inside the outermost one: per Einsum, a set of
/// its tensors.
using InnerOperands = std::vector<TensorMask>;

/// The machine with all that lies inside its outermost memory made into one: a memory of the same
/// room that costs nothing, and one compute with the least energy and time of each Einsum, leakage
/// included. What a mapping with perfect factors that runs one Einsum at a time moves at the
/// outermost memory, it can move there, too: the best mapping costs no more than any of the real
/// machine, if that takes the operands of `inside` from inner memories (J, s; policy `overlap`).
/// Nothing where the machine has no such outermost memory or nothing inside it.
std::optional<BoundProblem> relaxed_machine(const BoundProblem& problem,
                                            const InnerOperands& inside);

/// Operands that compute cannot take from (or hand to) the outermost memory for less than
/// `energy_j` (J) beyond their compulsory traffic; if infinite, cannot at all.
InnerOperands inner_operands(const BoundProblem& problem, double energy_j);

}  // namespace sluice
