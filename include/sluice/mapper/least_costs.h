#pragma once

#include <compare>
#include <map>
#include <optional>
#include <tl/expected.hpp>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The least that some mapping of a space needs of one thing. Several Einsums one after the other:
/// the sum.
struct Least {
  double value = 0;       ///< of the best mapping found; infinite where none was
  double bound = 0;       ///< no mapping of the space needs less; `value` where that is proven
  bool is_proven = true;  ///< the two are the same
};

/// What the mappings of a workload need at least, each of the three by a mapping of its own.
struct LeastCosts {
  Least traffic_bits;  ///< read from and written to the outermost memories
  Least energy_j;
  Least latency_s;  ///< policy `overlap`
};

/// What a search for one of the numbers found: of which problem, and of which number.
struct LeastSearch {
  std::optional<EinsumId> alone;  ///< none: the whole workload
  int number = 0;                 ///< in the order of LeastCosts
  friend auto operator<=>(const LeastSearch&, const LeastSearch&) = default;
};

struct LeastCostsOfWorkload {
  LeastCosts alone;  ///< Einsum by Einsum, each with all of its tensors from the outermost memory
  LeastCosts fused;  ///< Einsums exchange tensors further in where that pays
  Guarantee space;   ///< what the mapper `fused` searched (`space`, `leaves_out`)
  std::optional<NoMapping> no_alone;  ///< why some Einsum has no mapping alone: `alone` is infinite
  bool is_cancelled = false;          ///< what was not searched by then is infinite
  std::map<LeastSearch, MappedResult> found;  ///< the mappings behind the numbers
};

/// Searches with `fused`, whose space the numbers are exact in (docs/mappers.md); of `options`,
/// objectives, mapper and policy are not looked at, constraints hold for the fused mappings only.
/// Each search has the budget for itself; where one is over, `bound` is less than `value`. Once
/// `control` cancels, what is left is not searched. The outcome is a NoMapping where nothing was
/// found, not a proven one where that may be for lack of time, or because `fused` refuses to search
/// (refused_request). `no_alone` also where rules of the architecture need the other Einsums.
///
/// `smaller`: what was found for a problem that only grows; where its mappings are mappings here,
/// too, no number is above theirs.
///
/// What leaves no trace in a tensor's traffic is not counted in `traffic_bits`: actions of other
/// memories and computes, collectives, leakage; `min_usage` does not narrow its mappings.
tl::expected<LeastCostsOfWorkload, NoMapping> least_costs(
    const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
    const LeastCostsOfWorkload* smaller = nullptr);

/// Whether every mapping that the search for a number has for a problem is one that it has for
/// another, at the same cost: memories grow, and nothing else changes. Where a fanout asks for
/// `min_usage`, larger tiles may meet it better, and exclude others: then of traffic alone.
bool only_grows(const BoundProblem& smaller, const BoundProblem& larger,
                Least LeastCosts::*number = &LeastCosts::traffic_bits);

/// The problem whose energy, in joules, is the traffic of the outermost memories in bits.
BoundProblem traffic_problem(const BoundProblem& problem);

}  // namespace sluice
