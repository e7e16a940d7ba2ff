#pragma once

#include <optional>

#include "sluice/model/binding.h"

namespace sluice::oracle {

/// A state that is written at i + 1 and read at i by the Einsums `first`..`last` of one cycle: the
/// reader stands before the producer `last`, or is it.
struct Cycle {
  TensorId state;
  EinsumId first, last;
  std::size_t rank = 0;  ///< of the state, along which the steps go
};

std::vector<Cycle> cycles_of(const Workload& workload);

/// The variable of an Einsum that goes from step to step of a cycle it is in.
std::optional<RankVariableId> step_variable(const Workload& workload, EinsumId einsum);

/// Whether two adjacent Einsums are in one cycle (of several Einsums).
bool in_one_cycle(const Workload& workload, std::size_t einsum, std::size_t next);

/// Whether an Einsum is in a cycle of several Einsums, which share at least their outermost loop.
bool in_cycle(const Workload& workload, EinsumId einsum);

/// The strongest relevance over all accesses of the tensor by the Einsum.
Relevance strongest_relevance(const Einsum& einsum, TensorId tensor, RankVariableId variable);

/// Used by two different Einsums or more: a state of one Einsum alone is not.
bool is_exchanged(const TensorRoles& roles, TensorId tensor);

}  // namespace sluice::oracle
