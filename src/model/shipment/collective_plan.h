#pragma once

#include <string>
#include <vector>

#include "model/tree/nest.h"
#include "sluice/model/collective_cost.h"

namespace sluice {

/// A collective node as a request on networks.
struct CollectivePlan {
  const FlatCollective* flat = nullptr;
  const Nest* maker = nullptr;        ///< of the Einsum that makes the tensor
  int tensor = 0;                     ///< index into the maker's tensors
  CollectiveRequest request;          ///< of the group whose others stand at node 0
  std::vector<ComponentId> networks;  ///< of the request's group
  /// CollectiveGroup::standing_at of every group that works at the same time below one instance of
  /// the outermost network.
  std::vector<std::vector<std::vector<std::int64_t>>> standings;
  std::int64_t instances = 1;   ///< of the outermost network: further groups, all alike
  std::int64_t executions = 1;  ///< one after the other
  double memory_bandwidth = 0;  ///< bit/s: the slower of reading at src and writing at dst
  /// Who combines, and its action; none where nothing is combined or no compute can.
  std::optional<std::pair<ComponentId, std::size_t>> combiner;
};

/// Makes the plan; a sentence where it cannot be: a container without a network.
/// Preconditions: `over` names dimensions above `src` on the way to the maker's compute, each
/// spread over by loops above the collective; loops above it divide evenly.
tl::expected<CollectivePlan, std::string> plan_collective(const BoundProblem& problem,
                                                          const FlatTree& tree,
                                                          const FlatCollective& flat,
                                                          const Nest& maker);

/// What one collective costs over the whole run, repetitions of workload and Einsum not counted.
struct CollectiveCharge {
  std::string algorithm;
  double values = 0;    ///< sent: as many reads at src, as many writes at dst
  double combined = 0;  ///< operations of the combiner
  /// instances of src and dst that take part
  std::int64_t senders = 1, receivers = 1;
  double latency_s = 0;
  struct Crossed {
    ComponentId network;
    double volume_bits = 0, bit_hops = 0, latency_hops = 0;
  };
  std::vector<Crossed> networks;

  /// Adds what one of the groups that work side by side costs, in `times` instances and executions,
  /// of which `one_after_another` follow each other.
  void add(const CollectiveCost& cost, double bits_per_value, double times,
           double one_after_another);
};
CollectiveCharge price_plan(const CollectivePlan& plan, const CollectiveAlgorithms& algorithms);

}  // namespace sluice
