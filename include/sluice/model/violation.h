#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

enum class ViolationKind : std::uint8_t {
  kCapacity,          ///< live tiles exceed a memory
  kMissingStorage,    ///< a tensor has no backing storage; keep_violations: a required keep
  kForbiddenStorage,  ///< a memory cannot hold a tensor; keep_violations: it may not
  kIndivisibleLoop,   ///< a loop does not divide the enclosing tile, or reaches no tile of 1
  kRecomputation,     ///< a loop above a backing node does not index the tensor
  kFanout,            ///< spatial loops exceed a fanout, stand in the wrong place, or break `reuse`
  kStorageOrder,  ///< storage nodes of one tensor out of memory order, or spatial loops misplaced
  kCompute,       ///< the compute does not accept the Einsum, an Einsum is missing or repeated
  kUnsupportedNode,  ///< a node that this model cannot price yet (pipeline, sharing, …)
  kCollective,       ///< a collective is missing, in the wrong place, or cannot be
  kCoverage,         ///< loops do not cover an Einsum's iteration space
  kDependency,       ///< a tensor is read before it is made, or where only part of it is there
  kConstraint,       ///< a constraint is not kept; the model itself knows none
};

/// Why a mapping is illegal.
struct Violation {
  ViolationKind kind;
  std::string message;  ///< complete sentence with names and numbers
  std::optional<ComponentId> component;
  std::optional<EinsumId> einsum;
  std::vector<TensorId> tensors;
  double excess_bits = 0;              ///< kCapacity
  std::vector<std::size_t> node_path;  ///< child indices from the root to the offending node
};

}  // namespace sluice
