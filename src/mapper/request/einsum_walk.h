#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// A storage node on the way to an Einsum that serves it, of those tensors that the Einsum uses.
struct WalkedStorage {
  ComponentId component;
  std::vector<TensorId> tensors;
  std::vector<std::int64_t> tiles;  ///< per place in the Einsum's iteration space: largest tile
};

/// A loop on the way to an Einsum that takes several steps for it.
struct WalkedLoop {
  RankVariableId variable;               ///< as the Einsum knows it
  std::optional<ComponentId> component;  ///< spatial: whose fanout
  std::uint32_t dimension = 0;           ///< spatial: which dimension of it
};

struct WalkedStep {
  std::optional<WalkedStorage> storage;  ///< a storage node, else a loop
  WalkedLoop loop;
  const Node* node = nullptr;  ///< of the mapping
};

/// What stands on the way from the root to an Einsum's compute, outermost first.
struct EinsumWalk {
  EinsumId einsum;
  ComponentId compute;
  std::vector<WalkedStep> steps;
  std::vector<const SplitNode*> splits;
  std::size_t n_above_splits = 0;  ///< steps above the innermost split
  bool has_collective = false;     ///< one stands on the way
};

/// Whether a constraint, which may be limited to one Einsum, concerns this one.
template <class Constraint>
bool concerns(const Constraint& constraint, const EinsumWalk& way) {
  return !constraint.einsum || *constraint.einsum == way.einsum;
}

/// Whether a step is a storage node of a memory.
inline bool is_at(const WalkedStep& step, ComponentId memory) {
  return step.storage && step.storage->component == memory;
}

/// The innermost storage node of a memory; the end: it has none.
std::vector<WalkedStep>::const_iterator innermost_node(const EinsumWalk& way, ComponentId memory);

/// The ways to all Einsums of a mapping, in order of execution.
std::vector<EinsumWalk> walks_of(const Workload& workload, const Mapping& mapping);

}  // namespace sluice
