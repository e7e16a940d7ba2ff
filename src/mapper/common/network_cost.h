#pragma once

#include "sluice/arch/arch.h"

namespace sluice {

/// Whether what crosses a network takes energy or time.
inline bool costs(const Network& network) {
  if (network.hop_energy_j > 0) return true;
  if (network.implicit_time == ImplicitTime::kNone) return false;  // only collectives have another
  return network.link_bandwidth != kUnbounded || network.router_latency_s > 0 ||
         network.queue_latency_s > 0;
}

}  // namespace sluice
