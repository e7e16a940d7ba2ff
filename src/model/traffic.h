#pragma once

#include <cstdint>
#include <vector>

#include "model/nest.h"

namespace sluice {

/// Values that one storage node of a nest exchanges, over one run of the Einsum. `unit_*` are those
/// of the busiest instance: spatial loops above the node do not multiply them.
struct StorageTraffic {
  std::int64_t reads = 0, writes = 0;
  std::int64_t unit_reads = 0, unit_writes = 0;
  /// reads that merging partial sums of several instances would need (model.md)
  std::int64_t merge_reads = 0, unit_merge_reads = 0;
};

struct NestTraffic {
  std::vector<StorageTraffic> storages;  ///< parallel to the nest's storages
  std::int64_t operations = 0;           ///< iteration points computed
  std::int64_t unit_operations = 0;      ///< steps of the busiest compute
  std::int64_t padding_values = 0;       ///< values read from outside a rank, where asked for
};

/// Counts every value that crosses an edge while a nest runs (model.md, "Tiles and traffic").
/// `result` is overwritten; it is passed in so that its memory can be used again. Padding takes
/// time to find and is only counted on demand.
void count_traffic(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                   bool with_padding, NestTraffic* result);

}  // namespace sluice
