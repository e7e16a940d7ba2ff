#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "oracle/nest.h"

namespace sluice::oracle {

/// Refusals and the like that are kept to be reported.
inline constexpr std::size_t kMaxReports = 5;

/// The problem that consists of one Einsum alone; its `BoundEinsum` stays that of the whole
/// workload.
BoundProblem single_einsum_problem(const BoundProblem& problem, EinsumId einsum);

/// Prices every nest alone and drops those that do not fit even alone. `refusals` collects nests
/// that `evaluate` refuses for another reason than capacity.
std::vector<Pmapping> price_nests(const BoundProblem& problem, EinsumId einsum,
                                  std::vector<Pmapping> nests, std::vector<std::string>& refusals);

/// The soft `min_usage` filter: within each template, for one fanout dimension after the other
/// (inner components first), the nests that use enough of it, or else those that use most. Not for
/// copies.
std::vector<Pmapping> most_used(const BoundProblem& problem, EinsumId einsum,
                                std::vector<Pmapping> nests);

/// Without those where a memory holds a copy of what the Einsums of a recurrence exchange above the
/// loop over its steps: the space leaves them out ("copies above steps").
std::vector<Pmapping> without_copies_above_steps(const BoundProblem& problem, EinsumId einsum,
                                                 std::vector<Pmapping> nests);

}  // namespace sluice::oracle
