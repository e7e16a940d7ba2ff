#pragma once

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Reports Einsums and tensors that are too large to be counted in 64 bits.
void check_counts(ReadContext& context, const WorkloadSource& source, const Workload& workload);

}  // namespace sluice
