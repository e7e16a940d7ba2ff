#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// Fills in what a BoundEinsum knows without the architecture: tensors, variables, accesses.
void bind_accesses(const Workload& workload, EinsumId einsum, BoundEinsum* bound);

}  // namespace sluice
