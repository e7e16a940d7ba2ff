#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/tree/nest.h"
#include "model/visits/visit_sum.h"

namespace sluice {

/// As `refetches` (the values), where tiles need not divide: at each visit of a storage below the
/// first `n_loops` of `loops` it fetches what its last tile did not hold. `effects[l]` says of a
/// spatial loop whether all its instances count (kEvery), each for itself, or the largest one alone
/// (kOnce). An instance that has nothing to do in some step keeps its tile meanwhile. Loops have no
/// larger first tiles; `sizes` are the full sizes of the Einsum's variables.
std::int64_t uneven_refetches(const BoundAccess& access, const NestLoop* loops,
                              const LoopEffect* effects, int n_loops,
                              const std::vector<VariableRange>& sizes);

/// Why uneven_refetches does not say what moves; empty where it does. `kept_from`: loops above the
/// outermost node that keeps the tensor so.
std::string why_no_uneven_refetches(const BoundAccess& access, const NestLoop* loops, int n_loops,
                                    int kept_from);

}  // namespace sluice
