#pragma once

#include <algorithm>

#include "sluice/arch/arch.h"

namespace sluice {

/// Whether a fanout has a `min_usage`: then what is in a space depends on all that fits.
inline bool asks_for_usage(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(), [](const Component& c) {
    return std::any_of(c.spatial.begin(), c.spatial.end(),
                       [](const SpatialDimension& d) { return d.min_usage.has_value(); });
  });
}

}  // namespace sluice
