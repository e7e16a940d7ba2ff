#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/nest.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// Whether a split shares out (`over`, `shares`) the instances of this component among its
/// children: it stands below the divided container, so that each instance belongs to one child.
bool is_divided(const Arch& arch, const ConcurrentSplit& split, ComponentId component);

/// Where a nest's loops over the instances of a component begin, per dimension; empty where at 0.
std::vector<std::int64_t> first_instance(const FlatTree& tree, const Nest& nest,
                                         ComponentId component, std::size_t n_dimensions);

/// Fills in the regions of a flattened tree. Reports dimensions that are none of a container on the
/// way to each compute, and shares that do not fit.
void find_regions(const BoundProblem& problem, FlatTree& tree, ViolationReport& report);

/// Reports what stands above a split that shares out instances and may not, and what cannot be
/// priced there. That loops stay within their shares is a rule of one Einsum (check_legality).
void check_regions(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report);

}  // namespace sluice
