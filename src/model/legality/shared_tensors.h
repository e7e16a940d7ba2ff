#pragma once

#include <optional>

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Checks what several Einsums must agree on: a tensor is made before it is read, both sides find
/// it in the same memory, and the loops that they share walk it alike.
void check_sharing(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

/// The reader's variable along which it is behind the maker of what it reads, if it is: the steps
/// of a recurrence.
std::optional<RankVariableId> step_variable(const TensorAccess& written, const TensorAccess& read);

/// Whether a reader takes the slice that a state starts with alone: its recurrence has one step.
bool reads_initial_slice(const Workload& workload, TensorId tensor, EinsumId maker,
                         EinsumId reader);

/// The nest's own view of a loop of the mapping, or null where the nest is not below it.
const NestLoop* loop_at_node(const FlatTree& tree, const Nest& nest, const Node* node);

/// The backing storage of a tensor on the way to a compute, or null.
const NestStorage* backing_of(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              TensorId tensor);

}  // namespace sluice
