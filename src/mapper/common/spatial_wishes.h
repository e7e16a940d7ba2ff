#pragma once

#include <algorithm>

#include "mapper/common/contains.h"
#include "sluice/mapper/constraints.h"

namespace sluice {

/// Whether a `spatial` constraint keeps loops over the variable off a dimension, for an Einsum.
inline bool keeps_off(const Constraints& constraints, EinsumId einsum, ComponentId component,
                      std::size_t dimension, RankVariableId variable) {
  return std::any_of(constraints.spatial.begin(), constraints.spatial.end(), [&](const auto& c) {
    return c.component == component && c.dimension == dimension &&
           (!c.einsum || *c.einsum == einsum) && !contains(c.variables, variable);
  });
}

}  // namespace sluice
