#pragma once

#include "model/tree/nest.h"

namespace sluice {

/// Whether two steps of a loop touch disjoint parts of one of its Einsum's tensors: in some rank
/// every step moves at least as far as what it touches extends. `tensor`: index into
/// BoundEinsum::tensors; `reads_only`: leaves the Einsum's output out.
bool steps_are_apart(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                     const NestLoop& loop, int tensor, bool reads_only);

/// The outermost temporal loop of several steps above a storage that has to keep values of its
/// tensor from one step to the next: of a backing storage, what its steps have in common (slices of
/// a state, rows of a window) of what a single Einsum makes; of one that slides over a loop, the
/// rows that it does not fetch again (of what the Einsum makes it fetches all again). Null where
/// there is none.
const NestLoop* carrying_loop(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              const NestStorage& storage);

}  // namespace sluice
