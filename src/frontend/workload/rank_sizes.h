#pragma once

#include <vector>

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// A rank that counts the slices of a recurrence's state: `shift` more than its step variable has
/// steps.
struct StateRank {
  RankId steps;
  RankId slices;
  std::int64_t shift = 1;
};

/// Gives every variable of every Einsum its range, and every rank without a declared size (0) its
/// extent: the indices that the Einsums reach. Reports variables without bounds, sizes that
/// contradict each other, and reads of what nobody writes.
void derive_rank_sizes(ReadContext& context, const WorkloadSource& source,
                       const std::vector<StateRank>& states, Workload& workload);

}  // namespace sluice
