#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice::compound {

/// Variables of a group's Einsums that walk the same rank of the same tensor.
struct LoopClass {
  std::vector<std::optional<RankVariableId>> variable;  ///< per Einsum of the group
  std::vector<RankVariableId> variables;                ///< as a loop above the split lists them
  std::int64_t size = 1;
  bool temporal = false;  ///< every internal tensor is indexed by it: nothing is computed twice
  bool spatial = false;  ///< every Einsum has it, every internal tensor is indexed by it or reduced
  std::vector<TensorId> reduced;  ///< internal tensors whose makers reduce it
};

/// Consecutive Einsums that exchange tensors below the outermost memory (docs/mappers.md,
/// "The compound space").
struct Group {
  std::size_t first = 0, end = 0;  ///< Einsums first .. end - 1
  std::vector<TensorId> internal;  ///< made and read in the group alone
  std::vector<TensorId> external;  ///< backed by the outermost memory
  std::vector<LoopClass> classes;

  std::size_t size() const { return end - first; }
  EinsumId einsum(std::size_t i) const { return EinsumId(first + i); }
  bool has(EinsumId einsum) const { return einsum.index() >= first && einsum.index() < end; }
  bool is_internal(TensorId tensor) const;
};

/// The outermost memory on the way to one of an Einsum's computes.
ComponentId outermost_memory(const BoundProblem& problem, EinsumId einsum, std::uint32_t compute);

/// A compute that is not below the one memory that is the outermost for all Einsums, if there is
/// one.
std::optional<ComponentId> compute_elsewhere(const BoundProblem& problem);

/// An input or a result of the workload that the one outermost memory may not hold, if there is
/// one. Computes must not be elsewhere.
std::optional<TensorId> tensor_elsewhere(const BoundProblem& problem);

/// Nothing: a tensor that others outside need is made and read in it, or the outermost memory must
/// keep an internal tensor or may not keep an external one, also after constraints; so it is not in
/// the space.
std::optional<Group> make_group(const BoundProblem& problem, const Constraints& constraints,
                                std::size_t first, std::size_t end);

/// Einsums `first` to `end - 1` of a group as a group inside it: internal is what no other Einsum
/// uses.
Group block_of(const BoundProblem& problem, const Group& outer, std::size_t first, std::size_t end);

/// The Einsums of a group as a workload of their own: the same tensors, ranks and variables;
/// Einsum ids count from `first`.
BoundProblem slice(const BoundProblem& problem, const Group& group);

/// One Einsum as a workload of its own, to be priced below frames. If it uses a tensor and its
/// copy, which are one reservation where both are at home, its memories have no limits: the whole
/// group has.
BoundProblem slice_below_frames(const BoundProblem& problem, EinsumId einsum);

}  // namespace sluice::compound
