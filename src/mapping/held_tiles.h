#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mapping/loop_tiles.h"
#include "sluice/mapping/mapping.h"

namespace sluice {

/// The Einsums below a node, in order of execution, and by id.
struct EinsumsBelow {
  explicit EinsumsBelow(const NodeList& nodes);
  bool has(EinsumId einsum) const;

  std::vector<EinsumId> order, sorted;
};

/// The largest tile of a tensor that any Einsum below a storage node sees.
struct HeldTile {
  double bits = 0;
  std::vector<std::int64_t> extents;  ///< per rank
};

/// Tells what storage nodes hold where they stand in a tree.
class HeldTiles {
 public:
  using BitsPerValue = std::function<double(EinsumId, TensorId, ComponentId)>;

  /// `bits_per_value`: absent: the width of the Einsum's access.
  HeldTiles(const Workload& workload, BitsPerValue bits_per_value);

  /// `loops`: those above the node. Nothing where no Einsum below uses the tensor.
  std::optional<HeldTile> held(const StorageNode& node, TensorId tensor, const EinsumsBelow& below,
                               const LoopTiles& loops) const;

 private:
  const Workload& workload_;
  BitsPerValue bits_per_value_;
  std::vector<std::vector<EinsumId>> users_;  ///< per tensor
};

/// `M 64, K 128`
std::string named_extents(const HeldTile& tile, TensorId tensor, const Workload& workload);

}  // namespace sluice
