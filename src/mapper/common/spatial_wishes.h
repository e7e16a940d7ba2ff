#pragma once

#include <algorithm>

#include "mapper/common/contains.h"
#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Whether each placement is asked to use a fanout of the component as well as it can.
inline bool asks_for_usage(const BoundComponent& component) {
  return std::any_of(component.spatial.begin(), component.spatial.end(),
                     [](const BoundSpatial& own) { return own.min_usage > 0; });
}

/// Whether a `spatial` constraint keeps loops over the variable off a dimension, for an Einsum.
inline bool keeps_off(const Constraints& constraints, EinsumId einsum, ComponentId component,
                      std::size_t dimension, RankVariableId variable) {
  return std::any_of(constraints.spatial.begin(), constraints.spatial.end(), [&](const auto& c) {
    return c.component == component && c.dimension == dimension &&
           (!c.einsum || *c.einsum == einsum) && !contains(c.variables, variable);
  });
}

}  // namespace sluice
