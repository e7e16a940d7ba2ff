#pragma once

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Warns where an Einsum reads a tensor that nobody makes, once, and one made before it that nobody
/// reads has nearly the same name. Names that differ in their digits alone (`X1`, `X2`) are meant.
void warn_of_misspelt_tensors(ReadContext& context, const WorkloadSource& source,
                              const Workload& workload);

}  // namespace sluice
