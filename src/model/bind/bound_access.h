#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// Fills in what a BoundEinsum knows without the architecture: tensors, variables, accesses.
void bind_accesses(const Workload& workload, EinsumId einsum, BoundEinsum* bound);

/// Fills in BoundIndex::others and rank_size, once all Einsums are bound.
void widen_backings(const Workload& workload, std::vector<BoundEinsum>* einsums);

}  // namespace sluice
