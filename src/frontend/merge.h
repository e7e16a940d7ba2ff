#pragma once

#include "frontend/yaml_node.h"

namespace sluice {

/// `later` over `earlier`: maps key by key, anything else is replaced.
YamlPointer merge(const YamlPointer& earlier, const YamlPointer& later);

}  // namespace sluice
