#pragma once

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

}  // namespace sluice
