#pragma once

#include <string>
#include <vector>

#include "model/shipment/collective_plan.h"
#include "model/tree/nest.h"

namespace sluice {

/// What is sent from instances to instances behind an Einsum, in every step: by a collective on the
/// tensor that it makes, or by the pipelined split that forwards it.
struct Shipment {
  const Nest* maker = nullptr;
  int tensor = 0;  ///< index into the maker's tensors
  const Node* node = nullptr;
  bool forwarded = false;  ///< `node` is the pipelined split; else the collective
  std::string type;        ///< as in spec files
  ComponentId src, dst;
  std::vector<std::string> over;
  double bits_per_value = 1;    ///< on the networks
  std::int64_t executions = 1;  ///< of `charge`, one after the other
  std::optional<std::pair<ComponentId, std::size_t>> combiner;
  CollectiveCharge charge;
};

/// All of a legal mapping.
std::vector<Shipment> shipments_of(const BoundProblem& problem, const FlatTree& tree);

}  // namespace sluice
