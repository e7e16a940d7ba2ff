#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"
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

/// Bounds of a variable's tile at the innermost storage node of `memory`, or at every node there of
/// the tensors named; without such a node nothing is asked.
struct TileConstraint {
  std::string name;
  std::optional<EinsumId> einsum;
  RankVariableId variable;
  ComponentId memory;             ///< the tile that this memory's innermost storage node sees
  std::vector<TensorId> tensors;  ///< empty: the innermost node, whatever it holds
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

/// Relative order, outermost first, of the temporal loops over these variables between the
/// innermost storage node of `memory` and that of the next memory further in. Other loops may stand
/// among them.
struct LoopOrderConstraint {
  std::string name;
  std::optional<EinsumId> einsum;
  ComponentId memory;
  std::vector<RankVariableId> order;
  friend bool operator==(const LoopOrderConstraint&, const LoopOrderConstraint&) = default;
};

/// The innermost split that all these Einsums stand under is of this kind.
struct ScheduleConstraint {
  std::string name;
  std::vector<EinsumId> einsums;
  SplitKind kind = SplitKind::kSequential;
  friend bool operator==(const ScheduleConstraint&, const ScheduleConstraint&) = default;
};

/// A tensor is exchanged between instances by collectives, one at least and all like this. An empty
/// list leaves that choice free; `auto` is an algorithm of its own.
struct CollectiveConstraint {
  std::string name;
  TensorId tensor;
  std::vector<CollectiveType> types;
  std::vector<std::string> over;  ///< spatial dimensions, exactly these
  std::vector<std::string> algorithms;
  friend bool operator==(const CollectiveConstraint&, const CollectiveConstraint&) = default;
};

struct Constraints {
  std::vector<StorageConstraint> storage;
  std::vector<TileConstraint> tiles;
  std::vector<SpatialConstraint> spatial;
  std::vector<FusionConstraint> fusion;
  std::vector<LoopOrderConstraint> loop_orders;
  std::vector<ScheduleConstraint> schedules;
  std::vector<CollectiveConstraint> collectives;
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

/// The constraints as canonical YAML (`constraints:` document, names instead of ids).
std::string to_yaml(const Constraints& constraints, const Workload& workload, const Arch& arch);

}  // namespace sluice
