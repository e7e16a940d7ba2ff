#pragma once

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Reports tensors that two Einsums write, and tensors that are read before they are written (an
/// order that can be mended, or a cycle), except the earlier slices of a recurrence.
void check_order(ReadContext& context, const WorkloadSource& source, const Workload& workload);

}  // namespace sluice
