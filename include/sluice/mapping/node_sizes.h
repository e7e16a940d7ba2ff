#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// How large one node of a tree is where it stands: the steps of a loop, or the tile that a storage
/// node holds of one tensor.
struct NodeSize {
  std::size_t node = 0;               ///< place in the tree: nodes count before what is below them
  std::optional<std::int64_t> trips;  ///< loops
  std::optional<TensorId> tensor;     ///< storage nodes: a row for each tensor
  double bits = 0;                    ///< of the tile
  std::string tile;                   ///< `M 64, K 128`
  friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

/// The sizes of all loops and storage nodes, in the order of the tree. `bits_per_value`: of a
/// tensor in a memory, as an Einsum sees it; absent: the width of the Einsum's access. A node
/// without a user below it holds nothing and has no row.
std::vector<NodeSize> node_sizes(
    const Mapping& mapping, const Workload& workload,
    const std::function<double(EinsumId, TensorId, ComponentId)>& bits_per_value = {});

}  // namespace sluice
