#pragma once

#include <optional>

#include "sluice/workload/workload.h"

namespace sluice {

/// The reader's variable along which it is behind the maker of what it reads, if it is: the steps
/// of a recurrence.
std::optional<RankVariableId> step_variable(const TensorAccess& written, const TensorAccess& read);

/// Whether a reader takes the slice that a state starts with alone: its recurrence has one step.
bool reads_initial_slice(const Workload& workload, TensorId tensor, EinsumId maker,
                         EinsumId reader);

}  // namespace sluice
