#pragma once

#include <string>

#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice::cli {

/// The Einsums in order (points, operations, what they read and write), then the tensors by role.
std::string workload_drawing(const Workload& workload, bool ascii);

/// The hierarchy, outermost first, with instances, sizes and actions; forks as branches.
std::string arch_drawing(const Arch& arch, bool ascii);

}  // namespace sluice::cli
