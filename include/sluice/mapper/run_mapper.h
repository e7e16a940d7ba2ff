#pragma once

#include <cstddef>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Runs a mapper under the options that mean the same for every one of them:
/// - `budget_seconds`: the search is cancelled when the time is over; what it had found by then
/// comes back
///   without a guarantee. Where `fused` had found nothing by then, the best of some mappings that
///   are drawn comes back with a gap; else a NoMapping says so;
/// - `explore_einsum_orders`: the mapper runs on every order of the Einsums that respects the
///   dependencies (at most kMostEinsumOrders of them, the order written first), and the best
///   mapping of all is returned, in terms of the Einsums of `problem`. Needs exactly one objective;
/// - `constraints`: where they leave nothing, the NoMapping names the ones that are to blame.
tl::expected<MapperResult, NoMapping> run_mapper(const Mapper& mapper, const BoundProblem& problem,
                                                 const MapperOptions& options,
                                                 const MapperControl& control);

inline constexpr std::size_t kMostEinsumOrders = 24;

/// Whether a tensor is read before it is written, or by its own maker: a recurrence.
bool has_recurrence(const TensorRoles& roles);

/// Orders of the Einsums in which each tensor is written before it is read, the order written
/// first, then by position; at most `most`. Only the order written where the workload has a
/// recurrence.
std::vector<std::vector<EinsumId>> einsum_orders(const Workload& workload, std::size_t most);

}  // namespace sluice
