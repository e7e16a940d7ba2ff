#pragma once

#include <string>

#include "frontend/read_context.h"
#include "frontend/yaml_node.h"
#include "sluice/arch/arch.h"

namespace sluice {

/// The `arch:` section. Nothing if there was a mistake.
std::optional<Arch> read_arch(ReadContext& context, const YamlNode& node,
                              const std::string& default_name);

}  // namespace sluice
