#pragma once

#include <cstdint>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// What one tensor's transfers between parent and child put on one network, over one run of the
/// Einsum. `unit_*` are those of the busiest instance of the network.
template <class Value>
struct BasicNetworkTraffic {
  ComponentId network;
  int tensor = 0;      ///< index into BoundEinsum::tensors
  Value deliveries{};  ///< values, counted at every node that receives (or sends) them
  Value half_hops{};   ///< twice values × links crossed
  Value unit_deliveries{};
  Value unit_sent{};          ///< as unit_deliveries, what several nodes receive counted once
  Value unit_latency_hops{};  ///< Σ over steps of the longest route
  Value unit_rotated{};       ///< over the most loaded link while peers hand on their shares
  std::vector<Value> down_loads, up_loads;  ///< values over each link at the entry
};

using NetworkTraffic = BasicNetworkTraffic<std::int64_t>;

}  // namespace sluice
