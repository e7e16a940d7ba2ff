#pragma once

#include <cstdint>
#include <utility>

#include "sluice/model/binding.h"

namespace sluice {

/// Fills in what a BoundEinsum knows without the architecture: tensors, variables, accesses.
void bind_accesses(const Workload& workload, EinsumId einsum, BoundEinsum* bound);

/// Smallest and largest index that an Einsum touches in its whole iteration space.
std::pair<std::int64_t, std::int64_t> touched_range(const Einsum& einsum,
                                                    const AffineExpression& index);

/// Fills in BoundIndex::others and rank_size, once all Einsums are bound.
void widen_backings(const Workload& workload, std::vector<BoundEinsum>* einsums);

}  // namespace sluice
