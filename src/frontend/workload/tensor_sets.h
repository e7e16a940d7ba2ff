#pragma once

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Evaluates what a workload says about sets of tensors, Einsum by Einsum: renames (the Einsum's
/// own win over those of the `renames` section, which win over its default entry),
/// persistent_tensors and bits_per_value.
void apply_tensor_sets(ReadContext& context, const WorkloadSource& source, Workload& workload);

}  // namespace sluice
