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

/// Per Einsum and tensor: what taking it from (or handing it to) the outermost memory costs compute
/// at least, beyond its compulsory traffic (J); infinite where it cannot.
using DirectEnergies = std::vector<std::vector<double>>;
DirectEnergies direct_energies(const BoundProblem& problem);

/// Operands that cost `energy_j` (J) or more.
InnerOperands inner_operands(const DirectEnergies& energies, double energy_j);

}  // namespace sluice
