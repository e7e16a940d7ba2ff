#pragma once

#include <algorithm>
#include <optional>

#include "sluice/model/binding.h"

namespace sluice {

/// Of the memories above a compute of an Einsum, outermost first, the first that it may use.
inline std::optional<ComponentId> first_memory(const BoundProblem& problem,
                                               const BoundEinsum& einsum,
                                               const BoundCompute& compute) {
  const auto first =
      std::find_if(compute.path.begin(), compute.path.end(), [&](ComponentId component) {
        return problem.arch[component].is_memory() && einsum.components[component.index()].enabled;
      });
  return first == compute.path.end() ? std::nullopt : std::optional(*first);
}

}  // namespace sluice
