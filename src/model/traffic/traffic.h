#pragma once

#include <cstdint>
#include <vector>

#include "model/network/network_traffic.h"
#include "model/tree/nest.h"

namespace sluice {

/// Values that one storage node of a nest exchanges, over one run of the Einsum. `unit_*` are those
/// of the busiest instance: spatial loops above the node do not multiply them.
template <class Value>
struct BasicStorageTraffic {
  Value reads{}, writes{};
  Value unit_reads{}, unit_writes{};
  /// reads that merging partial sums of several instances would need (model.md)
  Value merge_reads{}, unit_merge_reads{};
  /// the part that passes between the node and its parent, on the node's side and on the parent's
  Value unit_filled{}, unit_drained{}, parent_sent{}, parent_received{};
  /// of the node's memory, that the Einsum uses; only where the memory has whole actions
  Value instances{};
};

template <class Value>
struct BasicNestTraffic {
  std::vector<BasicStorageTraffic<Value>> storages;  ///< parallel to the nest's storages
  std::vector<BasicNetworkTraffic<Value>> networks;
  Value operations{};               ///< iteration points computed
  Value unit_operations{};          ///< steps of the busiest compute
  std::int64_t padding_values = 0;  ///< values read from outside a rank, where asked for
};

using StorageTraffic = BasicStorageTraffic<std::int64_t>;
using NestTraffic = BasicNestTraffic<std::int64_t>;

/// Counts every value that crosses an edge while a nest runs (model.md, "Tiles and traffic").
/// `result` is overwritten; it is passed in so that its memory can be used again. Padding takes
/// time to find and is only counted on demand.
void count_traffic(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                   bool with_padding, NestTraffic* result);

}  // namespace sluice
