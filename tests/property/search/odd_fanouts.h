#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice::testing {

/// The same problem with fanouts that perfect factors seldom fill.
inline BoundProblem with_odd_fanouts(const BoundProblem& problem, std::mt19937_64* random) {
  constexpr std::int64_t kFanouts[] = {5, 6, 7, 9, 12, 14};
  Arch arch = problem.arch;
  for (Component& component : arch.components)
    for (SpatialDimension& dimension : component.spatial)
      if ((*random)() % 2 == 0) dimension.fanout = kFanouts[(*random)() % std::size(kFanouts)];
  const auto bound = bind(problem.workload, arch, problem.algorithms);
  return bound ? *bound : problem;
}

inline std::vector<ComponentId> memories_of(const Arch& arch) {
  std::vector<ComponentId> memories;
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    if (arch.components[c].is_memory()) memories.emplace_back(c);
  return memories;
}

}  // namespace sluice::testing
