#pragma once

#include <optional>
#include <string>

#include "frontend/read_context.h"
#include "frontend/yaml_node.h"
#include "sluice/arch/arch.h"

namespace sluice {

bool is_component_tag(const std::string& tag);

/// One tagged node of an architecture, without its fork. Nothing if there was a mistake.
std::optional<Component> read_component(ReadContext& context, const YamlNode& node,
                                        std::optional<double> clock_hz);

}  // namespace sluice
