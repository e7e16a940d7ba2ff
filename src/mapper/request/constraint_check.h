#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Names of the constraints that a whole mapping breaks, in the order of Constraints, each once.
/// For any legal LoopTree, whichever mapper made it; nodes count where they are written, loops of
/// one step are none. docs/mappers.md ("What constraints ask for") says what each kind means.
std::vector<std::string> constraint_violations(const Constraints& constraints,
                                               const BoundProblem& problem, const Mapping& mapping);

struct BrokenConstraint {
  std::string name;
  std::string reason;          ///< `k is 64 at Shared, at most 32`; may be empty
  const Node* node = nullptr;  ///< of the mapping, where one node is to blame
  std::optional<ComponentId> component;
  std::optional<EinsumId> einsum;
  std::optional<TensorId> tensor;  ///< storage: held though forbidden, or not held
};

/// The same, and where the first Einsum breaks them: of storage, tiles and spatial dimensions. What
/// the other kinds ask for is no matter of one node.
std::vector<BrokenConstraint> broken_constraints(const Constraints& constraints,
                                                 const BoundProblem& problem,
                                                 const Mapping& mapping);

}  // namespace sluice
