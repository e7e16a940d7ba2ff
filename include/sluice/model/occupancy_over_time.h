#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// One Einsum at work, or a collective after it, in the order of the mapping.
struct ScheduleStep {
  EinsumId einsum;
  std::optional<TensorId> moved;  ///< by the collective
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// What one instance of a memory holds of a tensor, from one step to another (both included).
struct HeldInterval {
  ComponentId memory;
  TensorId tensor;
  std::size_t from = 0, until = 0;
  double bits = 0;
  friend bool operator==(const HeldInterval&, const HeldInterval&) = default;
};

struct OccupancyOverTime {
  std::vector<ScheduleStep> steps;
  /// By memory, then by when it begins. In each step they add up to the most that the memory holds
  /// then; the largest sum is the peak of the Cost's occupancy.
  std::vector<HeldInterval> held;
};

/// What every memory holds while a mapping runs. Children of a pipelined or parallel split work at
/// the same time: in the steps of each the memories hold what all of them need. Of an illegal
/// mapping as far as it can be told.
OccupancyOverTime occupancy_over_time(const BoundProblem& problem, const Mapping& mapping);

}  // namespace sluice
