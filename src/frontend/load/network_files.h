#pragma once

#include <optional>
#include <string>

#include "frontend/yaml/read_context.h"

namespace sluice {

/// Whether a file lists the layers of a network (`.csv`) instead of being YAML.
bool is_network_table(const std::string& path);

/// The network as a spec with its workload: a source of the context, whose mistakes are those of
/// the layers in the table. Mistakes of the table go to the context.
std::optional<std::size_t> workload_of_table(ReadContext& context, const std::string& path,
                                             const std::string& text);

}  // namespace sluice
