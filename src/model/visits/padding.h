#pragma once

#include <cstdint>

#include "model/visits/visit_sum.h"

namespace sluice {

/// As visit_sum, of the values that lie inside the tensor's ranks (`rank_sizes`, per rank). The
/// rest of what is moved is padding: zeros that are held, moved and priced like values.
std::int64_t visit_sum_inside(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                              const BoundAccess& access, const std::vector<VariableRange>& ranges,
                              const std::vector<std::int64_t>& rank_sizes);

}  // namespace sluice
