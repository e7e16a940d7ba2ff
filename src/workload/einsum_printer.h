#pragma once

#include <string>

#include "sluice/workload/workload.h"

namespace sluice {

/// `QK[b,m,p,h] = Q[b,m,h,e] * K[b,M:p,h,e]`
std::string print_einsum(const Workload& workload, const Einsum& einsum);

/// A bare `x` stands for rank `X`.
std::string rank_walked_by(const std::string& variable);

}  // namespace sluice
