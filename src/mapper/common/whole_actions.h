#pragma once

#include <algorithm>

#include "model/traffic/traffic.h"
#include "sluice/arch/arch.h"

namespace sluice {

/// Whether parts of actions cost as much as whole ones in some memory: prices that are sums of
/// products leave that out, and are lower bounds.
inline bool has_whole_actions(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(),
                     [](const Component& own) { return has_whole_actions(own); });
}

}  // namespace sluice
