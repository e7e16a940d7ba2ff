#pragma once

namespace sluice {

struct BoundProblem;

/// Lower bounds that no mapping of this workload on this architecture can beat.
struct CostBounds {
  double compute_s = 0;  ///< Σ over Einsums: operations at the peak rate of the fastest compute
  double memory_s = 0;   ///< Σ compulsory traffic of the outermost memory / its bandwidth
  double energy_floor_j =
      0;  ///< cheapest compute energy + compulsory traffic at the outermost memory
  friend bool operator==(const CostBounds&, const CostBounds&) = default;
};

/// `problem.bounds` where Einsums may run at the same time (pipelined and parallel splits), each on
/// a compute of its own.
CostBounds concurrent_bounds(const BoundProblem& problem);

}  // namespace sluice
