#pragma once

#include <optional>
#include <string>

#include "mapper/request/einsum_walk.h"
#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Where the way to an Einsum breaks a constraint.
struct ConstraintFault {
  const WalkedStep* step = nullptr;  ///< null: what is missing is nowhere
  std::optional<TensorId> tensor;    ///< storage: held though forbidden, or not held
  std::int64_t tile = 0;             ///< tiles: of the variable
};

/// The first of them; none where the way keeps the constraint. Whether it concerns the Einsum is
/// for the caller to see.
std::optional<ConstraintFault> find_fault(const StorageConstraint& constraint,
                                          const BoundProblem& problem, const EinsumWalk& way);
std::optional<ConstraintFault> find_fault(const TileConstraint& constraint,
                                          const BoundProblem& problem, const EinsumWalk& way);
std::optional<ConstraintFault> find_fault(const SpatialConstraint& constraint,
                                          const BoundProblem& problem, const EinsumWalk& way);

/// What is the case, and what was asked for: `k is 64 at Shared, at most 32`.
std::string reason_of(const StorageConstraint& constraint, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk& way);
std::string reason_of(const TileConstraint& constraint, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk& way);
std::string reason_of(const SpatialConstraint& constraint, const ConstraintFault& fault,
                      const BoundProblem& problem, const EinsumWalk& way);

}  // namespace sluice
