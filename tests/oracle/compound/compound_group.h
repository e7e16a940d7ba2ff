#pragma once

#include <cstdint>
#include <vector>

#include "oracle/compound/compound_nest.h"

namespace sluice::oracle {

/// The tensors of a group of consecutive Einsums, [begin, end) in the order written.
struct GroupTensors {
  std::vector<TensorId> internal;  ///< made in it, and read in it only
  std::vector<TensorId> external;  ///< all others that it uses
  bool in_space = true;            ///< false: an external tensor is both made and read in it
};
GroupTensors tensors_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end);

/// Variables of the group's Einsums that index the same ranks of the same tensors, transitively. An
/// equal name alone does not make two Einsums' variables one.
struct VariableClass {
  std::vector<RankVariableId> variables;  ///< ascending
  /// No Einsum of the group has two of them, and none has one that is in another class there: a
  /// loop over the class would move it, too.
  bool usable = true;
};
std::vector<VariableClass> classes_of_group(const Workload& workload, std::size_t begin,
                                            std::size_t end);

/// Every way to map the Einsums [begin, end) together: what stands below the root's storage node.
/// A group of one is a nest. Throws TooMany beyond `limits`.
std::vector<NodeList> ways_of_group(const BoundProblem& problem, std::size_t begin, std::size_t end,
                                    const CompoundLimits& limits);

}  // namespace sluice::oracle
