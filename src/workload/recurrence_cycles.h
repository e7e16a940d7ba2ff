#pragma once

#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

/// Consecutive Einsums of which an earlier one (or the same) reads what a later one has left in the
/// step before.
struct RecurrenceCycle {
  std::size_t first = 0, last = 0;
  bool has(std::size_t einsum) const { return first <= einsum && einsum <= last; }
};

/// All of a workload, ascending; those that overlap are one.
std::vector<RecurrenceCycle> recurrence_cycles(const Workload& workload, const TensorRoles& roles);

/// The cycle that an Einsum is in, or null.
const RecurrenceCycle* cycle_of(const std::vector<RecurrenceCycle>& cycles, std::size_t einsum);

}  // namespace sluice
