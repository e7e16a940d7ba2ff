#pragma once

#include <optional>
#include <vector>

#include "frontend/workload/iteration_space.h"

namespace sluice {

/// Indices of a tensor: a range of each rank.
using IndexBox = std::vector<IndexExtent>;

bool is_empty(const IndexBox& box);
/// What two boxes of one tensor have in common; empty where they are disjoint.
IndexBox intersection(const IndexBox& a, const IndexBox& b);
/// A box of `whole` that none of the parts covers, if there is one.
std::optional<IndexBox> left_over(const IndexBox& whole, const std::vector<IndexBox>& parts);

}  // namespace sluice
