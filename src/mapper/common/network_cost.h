#pragma once

#include <algorithm>
#include <optional>

#include "sluice/model/binding.h"

namespace sluice {

/// Whether what crosses a network takes energy or time.
inline bool costs(const Network& network) {
  if (network.hop_energy_j > 0) return true;
  if (network.implicit_time == ImplicitTime::kNone) return false;  // only collectives have another
  return network.link_bandwidth != kUnbounded || network.router_latency_s > 0 ||
         network.queue_latency_s > 0;
}

/// Whether steps that move nothing more take time all the same.
inline bool takes_time_by_steps(const Network& network) {
  return network.implicit_time != ImplicitTime::kNone && network.router_latency_s > 0;
}

/// Whether steps that move nothing more take time on the way to a compute.
inline bool waits_by_steps(const BoundProblem& problem, const BoundCompute& compute) {
  return std::any_of(
      compute.networks.begin(), compute.networks.end(), [&](const PathNetwork& path) {
        return takes_time_by_steps(std::get<Network>(problem.arch[path.network].kind));
      });
}

/// Whether a network on the way to a compute costs something, before the instances of `fanned` (or
/// of any component).
inline bool has_routes(const BoundProblem& problem, const BoundCompute& compute,
                       std::optional<ComponentId> fanned = std::nullopt) {
  return std::any_of(compute.networks.begin(), compute.networks.end(),
                     [&](const PathNetwork& path) {
                       return (!fanned || path.fanned == fanned) &&
                              costs(std::get<Network>(problem.arch[path.network].kind));
                     });
}

/// The systolic array on the way to a compute, or nothing.
inline std::optional<ComponentId> array_above(const BoundProblem& problem,
                                              const BoundCompute& compute) {
  for (ComponentId id : compute.path) {
    const Container* container = std::get_if<Container>(&problem.arch[id].kind);
    if (container && container->array) return id;
  }
  return std::nullopt;
}

}  // namespace sluice
