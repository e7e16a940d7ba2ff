#pragma once

#include <tl/expected.hpp>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The least that some mapping of a space needs of one thing. Several Einsums one after the other:
/// the sum.
struct Least {
  double value = 0;       ///< of the best mapping found
  double bound = 0;       ///< no mapping of the space needs less; `value` where that is proven
  bool is_proven = true;  ///< the two are the same
};

/// What the mappings of a workload need at least, each of the three by a mapping of its own.
struct LeastCosts {
  Least traffic_bits;  ///< read from and written to the outermost memories
  Least energy_j;
  Least latency_s;  ///< policy `overlap`
};

struct LeastCostsOfWorkload {
  LeastCosts alone;  ///< Einsum by Einsum, each with all of its tensors from the outermost memory
  LeastCosts fused;  ///< Einsums exchange tensors further in where that pays
  Guarantee space;   ///< what the mapper `fused` searched (`space`, `leaves_out`)
};

/// Searches with `fused`, whose space the numbers are exact in (docs/mappers.md); of `options`,
/// objectives, mapper and policy are not looked at, constraints hold for the fused mappings only.
/// Each search has the budget for itself; where one is over, `bound` is less than `value`. Once
/// `control` cancels, what is left is not searched, and the outcome is a NoMapping that is not
/// proven; so is what `fused` refuses to search (refused_request). One Einsum that has no mapping
/// alone leaves the whole outcome without. Rules of the architecture must be valid for each Einsum
/// alone, too.
///
/// What leaves no trace in a tensor's traffic is not counted in `traffic_bits`: actions of other
/// memories and computes, collectives, leakage; `min_usage` does not narrow its mappings.
tl::expected<LeastCostsOfWorkload, NoMapping> least_costs(const BoundProblem& problem,
                                                          const MapperOptions& options,
                                                          const MapperControl& control);

/// The problem whose energy, in joules, is the traffic of the outermost memories in bits.
BoundProblem traffic_problem(const BoundProblem& problem);

}  // namespace sluice
