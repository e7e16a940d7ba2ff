#pragma once

#include <string>
#include <vector>

#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// What a merge drops: `earlier` where `later` stands instead of it.
struct Hidden {
  std::string key;  ///< as `arch.nodes`
  YamlPointer earlier, later;
};

/// What merge(earlier, later) drops, but for single values: those are overridden on purpose.
std::vector<Hidden> hidden_by(const YamlPointer& earlier, const YamlPointer& later);

/// `later` over `earlier`: maps key by key, anything else is replaced.
YamlPointer merge(const YamlPointer& earlier, const YamlPointer& later);

}  // namespace sluice
