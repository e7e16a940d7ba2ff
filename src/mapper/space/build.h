#pragma once

#include <cstdint>
#include <vector>

#include "pmapping.h"
#include "sluice/mapping/mapping.h"

namespace sluice::fused {

/// One Einsum's part of a mapping. Points to what somebody else keeps.
struct BuildPart {
  const EinsumShape* shape = nullptr;
  const Template* templ = nullptr;
  const Compatibility* compatibility = nullptr;
  std::vector<std::int64_t> trips;  ///< per loop place of the template
};

/// Writes compatible pmappings, one per Einsum in their order, out as one LoopTree: shared loops
/// once, storage nodes at their level, splits where the Einsums part.
Mapping build_mapping(const BoundProblem& problem, std::vector<BuildPart> parts);

}  // namespace sluice::fused
