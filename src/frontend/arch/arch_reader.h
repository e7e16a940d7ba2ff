#pragma once

#include <string>
#include <vector>

#include "frontend/arch/component_reader.h"
#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// The `arch:` section. Nothing if there was a mistake. What is said about an Einsum's tensors is
/// added to `expressions`, whose places point into `node`.
std::optional<Arch> read_arch(ReadContext& context, const YamlNode& node,
                              const std::string& default_name,
                              std::vector<ArchExpression>& expressions);

/// Reports names that nothing defines and values of the wrong type: expressions that have no value
/// for an Einsum of the workload.
void check_arch_expressions(ReadContext& context, const std::vector<ArchExpression>& expressions,
                            const Workload& workload, const Arch& arch);

/// The same without a workload: only what has no value for any. A name may be a tensor's.
void check_arch_expressions(ReadContext& context, const std::vector<ArchExpression>& expressions,
                            const Arch& arch);

}  // namespace sluice
