#pragma once

#include <cstdint>
#include <vector>

#include "sluice/support/strong_id.h"

namespace sluice {

struct BoundProblem;

/// Lower bounds of the mappings of a workload on an architecture: of those with one Einsum at a
/// time (cost_bounds), or of all (concurrent_bounds).
struct CostBounds {
  double compute_s = 0;  ///< Σ over Einsums: operations at the peak rate of the fastest compute
  double memory_s = 0;   ///< Σ compulsory traffic of the outermost memory / its bandwidth
  /// cheapest compute energy with its operands + compulsory traffic at the outermost memory
  double energy_floor_j = 0;
  /// Σ over Einsums: the longer of compute and what the memories that hand operands to compute
  /// are busy; under the policy `overlap` alone
  double operands_s = 0;
  friend bool operator==(const CostBounds&, const CostBounds&) = default;
};

/// Which tiles a bound is about: with perfect factors only, a loop of 11 steps over 4,096 values is
/// none, and an array of 14 rows is used by 8 at most.
enum class Factors : std::uint8_t { kAny, kPerfect };

/// Bounds of all mappings that run one Einsum at a time (J, s).
CostBounds cost_bounds(const BoundProblem& problem, Factors factors = Factors::kAny);

/// What passes the outermost memory alone.
CostBounds outer_traffic_bounds(const BoundProblem& problem);
/// Of some Einsums alone.
CostBounds outer_traffic_bounds(const BoundProblem& problem, const std::vector<EinsumId>& einsums);

/// Bounds of mappings that run one Einsum at a time, under the policy `overlap`: computes wait for
/// the memories that hand them operands, and components leak meanwhile.
CostBounds overlap_bounds(const BoundProblem& problem, CostBounds bounds);

/// `problem.bounds` where Einsums may run at the same time (pipelined and parallel splits), each on
/// a compute of its own.
CostBounds concurrent_bounds(const BoundProblem& problem);

}  // namespace sluice
