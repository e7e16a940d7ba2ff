#pragma once

#include <algorithm>

#include "sluice/mapper/mapper.h"
#include "sluice/support/error.h"

namespace sluice {

/// What an objective makes of an energy (J) and a latency (s): J, s or J·s.
inline double objective_value(Objective objective, double energy, double latency) {
  switch (objective) {
    case Objective::kEnergy:
      return energy;
    case Objective::kLatency:
      return latency;
    case Objective::kEdp:
      return energy * latency;
  }
  fail_internal_check("Objective", __FILE__, __LINE__, "an objective without a value");
}

inline double objective_value(Objective objective, const Cost& cost) {
  return objective_value(objective, cost.energy_j, cost.latency_s);
}

/// What no mapping's objective is below, under any latency policy: its energy is at least the
/// energy floor, its latency at least the larger of compute and memory time (CostBounds); of EDP
/// the product of both.
inline double objective_bound(Objective objective, const CostBounds& bounds) {
  return objective_value(objective, bounds.energy_floor_j,
                         std::max(bounds.compute_s, bounds.memory_s));
}

}  // namespace sluice
