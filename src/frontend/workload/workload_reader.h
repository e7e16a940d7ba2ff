#pragma once

#include <string>

#include "frontend/workload/workload_source.h"
#include "frontend/yaml/read_context.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// The `workload:` section and the `renames:` one beside it (which may be null). `default_name` is
/// used where the section gives none.
WorkloadSource read_workload(ReadContext& context, const YamlNode& node, const YamlNode* renames,
                             const std::string& default_name);

/// Resolves names, derives sizes and ranges, evaluates sets. Nothing if there was a mistake.
std::optional<Workload> build_workload(ReadContext& context, const WorkloadSource& source);

}  // namespace sluice
