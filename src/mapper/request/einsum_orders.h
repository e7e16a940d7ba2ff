#pragma once

#include <cstddef>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice {

inline constexpr std::size_t kMostEinsumOrders = 24;

/// Whether a tensor is read before it is written, or by its own maker: a recurrence.
bool has_recurrence(const TensorRoles& roles);

/// Orders of the Einsums in which each tensor is written before it is read, the order written
/// first, then by position; at most `most`. Only the order written where the workload has a
/// recurrence.
std::vector<std::vector<EinsumId>> einsum_orders(const Workload& workload, std::size_t most);

}  // namespace sluice
