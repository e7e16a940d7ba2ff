#pragma once

#include <optional>

#include "sluice/workload/workload.h"

namespace sluice::fused {

/// An Einsum's place in a recurrence of several Einsums: one that reads what a later Einsum wrote
/// in the step before. They stand below one temporal loop over the steps, outermost among their
/// shared loops, one step at a time (specs.md, "Workload").
struct RecurrenceRole {
  std::optional<RankVariableId> step;  ///< of the Einsum that reads early or the one that writes
  bool continues = false;              ///< an Einsum before it is in the same recurrence
  bool goes_on = false;                ///< an Einsum after it is
  bool is_member() const { return continues || goes_on; }
  bool operator==(const RecurrenceRole&) const = default;
};

RecurrenceRole recurrence_role(const Workload& workload, const TensorRoles& roles, EinsumId einsum);

}  // namespace sluice::fused
