#pragma once

#include <string>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// `A, B`
std::string names_of_tensors(const BoundProblem& problem, const std::vector<TensorId>& tensors);

/// The size (bits) that a memory needs, in words; that is the nearest change.
std::string needed_size(const BoundProblem& problem, ComponentId memory, double bits,
                        NoMapping* no);

/// Says, wherever that is found out, that a memory is too small for the smallest tiles of an
/// Einsum, and how large it must be. `no` has the Einsum, the memory, the tensors and the excess.
void tell_too_small(const BoundProblem& problem, NoMapping* no);

}  // namespace sluice
