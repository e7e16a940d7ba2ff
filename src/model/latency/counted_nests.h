#pragma once

#include <vector>

#include "model/price/nest_pricer.h"
#include "model/shipment/shipment.h"
#include "model/traffic/traffic.h"
#include "model/tree/nest.h"

namespace sluice {

struct Occupancy;

/// The counts of every nest of a legal mapping, priced under `overlap`: what the policies of this
/// room read of a CountedMapping.
struct CountedNests {
  const FlatTree& tree;
  const Occupancy& occupancy;
  std::vector<NestTraffic> traffic;  ///< per nest
  std::vector<Shipment> shipments;
  NestPricer overlapped;
};

}  // namespace sluice
