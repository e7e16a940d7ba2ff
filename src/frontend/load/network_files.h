#pragma once

#include <optional>
#include <string>

#include "frontend/yaml/read_context.h"

namespace sluice {

/// Whether a file lists the layers of a network (`.csv`) instead of being YAML.
bool is_network_table(const std::string& path);

/// The network as a spec with its workload. Mistakes go to the context.
std::optional<std::string> workload_of_table(ReadContext& context, const std::string& path,
                                             const std::string& text);

}  // namespace sluice
