#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/support/strong_id.h"

namespace sluice {

/// Restrictions of any mapper's space. A constraint that empties the space is reported by name.
struct StorageConstraint {
  std::string name;
  std::optional<EinsumId> einsum;  ///< none: every Einsum
  ComponentId memory;
  std::vector<TensorId> keep;    ///< must be held here
  std::vector<TensorId> forbid;  ///< must not be held here
  friend bool operator==(const StorageConstraint&, const StorageConstraint&) = default;
};

/// Bounds of a variable's tile right inside `memory`'s storage nodes, or of a loop's trips.
struct TileConstraint {
  std::string name;
  std::optional<EinsumId> einsum;
  RankVariableId variable;
  ComponentId memory;  ///< the tile that this memory's innermost storage node sees
  std::int64_t minimum = 1;
  std::optional<std::int64_t> maximum;
  friend bool operator==(const TileConstraint&, const TileConstraint&) = default;
};

/// Variables that one spatial dimension may (or must) unroll.
struct SpatialConstraint {
  std::string name;
  std::optional<EinsumId> einsum;
  ComponentId component;
  std::uint32_t dimension = 0;
  std::vector<RankVariableId> variables;  ///< only these
  friend bool operator==(const SpatialConstraint&, const SpatialConstraint&) = default;
};

/// Tensors that must be exchanged on chip (`fused`) or must not.
struct FusionConstraint {
  std::string name;
  TensorId tensor;
  bool fused = true;
  std::optional<ComponentId> memory;  ///< backed exactly there
  friend bool operator==(const FusionConstraint&, const FusionConstraint&) = default;
};

struct Constraints {
  std::vector<StorageConstraint> storage;
  std::vector<TileConstraint> tiles;
  std::vector<SpatialConstraint> spatial;
  std::vector<FusionConstraint> fusion;
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

}  // namespace sluice
