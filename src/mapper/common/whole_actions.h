#pragma once

#include <algorithm>

#include "sluice/arch/arch.h"

namespace sluice {

/// Whether parts of actions cost as much as whole ones in some memory: prices that are sums of
/// products leave that out, and are lower bounds.
inline bool has_whole_actions(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(), [](const Component& own) {
    const auto* memory = std::get_if<Memory>(&own.kind);
    return memory != nullptr && memory->partial_actions == PartialActions::kWhole;
  });
}

}  // namespace sluice
