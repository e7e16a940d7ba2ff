#pragma once

#include <cstdint>
#include <vector>

#include "pmapping.h"

namespace sluice::fused {

/// A fused loop of a template that runs so often and leaves such a (largest) tile.
FusedLoop fused_loop(const EinsumShape& shape, const LoopPlace& place, std::int64_t trips,
                     std::int64_t tile);

/// The rank of a tensor (local index) that a fused loop walks, or -1 where no other Einsum can
/// share it.
std::int32_t shared_rank(const EinsumShape& shape, std::size_t tensor, const FusedLoop& loop);

/// Whether two fused loops (by index) that follow each other where they run may be permuted.
bool may_be_permuted(const Template& templ, std::uint32_t loop, std::uint32_t next);

/// Whether a storage node could as well sink below a fused loop directly under it: then another
/// choice says the same with a smaller tile. `trips`: per loop place; only fused ones are read.
bool is_redundant(const Template& templ, const std::vector<std::int64_t>& trips);

/// Where routes cost something, the order of loops over one dimension counts. Above shared tensors
/// it depends on the other Einsums: whether each dimension has one such loop at most.
bool settles_routes(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<std::int64_t>& trips);

/// The compatibility of a template under given trip counts of its fused loops (`trips` per loop
/// place; others are not read).
Compatibility make_compatibility(const BoundProblem& problem, const EinsumShape& shape,
                                 const Template& templ, const std::vector<std::int64_t>& trips);

/// The persistent copies of a shared slot's tensor that the template backs in the same memory, by
/// bit (LocalTensor::kept_copies).
std::uint32_t kept_by(const EinsumShape& shape, const Template& templ, const Slot& slot);

/// A tensor with persistent copies that this Einsum does not use may lie in their room or not: what
/// the other Einsums do decides. All cases, the given one first.
std::vector<std::vector<Backing>> kept_in_other_ways(const EinsumShape& shape,
                                                     const std::vector<Backing>& backings);

/// Puts a tile into the room of more of its persistent copies.
void keep(const EinsumShape& shape, std::uint32_t kept_by, Backing* backing);

/// Bits that a backing node reserves under given trip counts of the fused loops.
double backing_bits(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const Slot& slot, const std::vector<std::int64_t>& trips);

/// Shared tensors of which the template has a copy above a loop place (FusedLoop::copied_above).
std::uint64_t copied_above(const BoundProblem& problem, const EinsumShape& shape,
                           const Template& templ, std::uint32_t loop);

/// Einsums of one recurrence share the loop over its steps, above all that they exchange. True for
/// other Einsums. `trips` as above.
bool steps_together(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<std::int64_t>& trips);

/// All of a compatibility but the sizes that follow from it: equal keys, equal compatibilities.
std::vector<std::int64_t> compatibility_key(const Compatibility& compatibility);

}  // namespace sluice::fused
