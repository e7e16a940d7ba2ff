#pragma once

#include <string>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/model/cost.h"

namespace sluice::cli {

/// Energy of one component, and how it splits into actions.
struct ComponentEnergy {
  ComponentId component;
  double energy_j = 0;
  std::vector<std::pair<std::string, double>> by_action;  ///< largest first
};
/// Largest first; components that cost nothing are left out.
std::vector<ComponentEnergy> energy_by_component(const Cost& cost);

/// What one Einsum costs, and the component it waits for.
struct EinsumShare {
  EinsumId einsum;
  double energy_j = 0;
  double latency_s = 0;                   ///< of the component that it waits for
  double collectives_s = 0;               ///< of the collectives on what it makes, in addition
  std::optional<ComponentId> bottleneck;  ///< none where no component takes time
  double total_s() const { return latency_s + collectives_s; }
};
/// In the order of execution.
std::vector<EinsumShare> cost_by_einsum(const Cost& cost);

/// Time during which one component is what everything waits for.
struct Bottleneck {
  ComponentId component;
  double latency_s = 0;
  std::vector<EinsumId> einsums;
};
/// Largest first.
std::vector<Bottleneck> bottlenecks(const std::vector<EinsumShare>& shares);

}  // namespace sluice::cli
