#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cost_program.h"
#include "pmapping.h"
#include "simple_program.h"

namespace sluice::fused {

/// A test that a pmapping can still be part of a mapping that beats a known one (mapper.md, idea
/// 3).
struct SearchBound {
  bool active = false;
  Objective objective = Objective::kEdp;
  double other_energy = 0;   ///< least energy of all other Einsums together
  double other_latency = 0;  ///< least latency of all other Einsums together
  double limit = 0;          ///< objective of the known mapping, with a margin

  bool hopeless(double energy, double latency) const {
    if (!active) return false;
    const double e = energy + other_energy, l = latency + other_latency;
    switch (objective) {
      case Objective::kEnergy:
        return e > limit;
      case Objective::kLatency:
        return l > limit;
      case Objective::kEdp:
        return e * l > limit;
    }
    return false;
  }
};

struct TileSearchContext {
  const BoundProblem* problem;
  const EinsumShape* shape;
  const MapperOptions* options;
  const Constraints* constraints;
  const std::vector<TrackedMemory>* tracked;
  const std::vector<bool>* unlimited;
  SearchBound bound;
  const std::atomic<bool>* cancel = nullptr;
};

/// The pmappings that one template has, grouped by compatibility and pruned within each group.
struct TemplateResult {
  std::vector<PmappingGroup> groups;
  double considered = 0;
  double evaluated = 0;
  ClosestMiss miss;
};

TemplateResult search_tile_shapes(const TileSearchContext& context, const Template& templ,
                                  std::uint32_t template_index);

/// The trip counts of a pmapping, per loop place of its template.
std::vector<std::int64_t> loop_trips(const TileSearchContext& context, const Template& templ,
                                     const std::vector<std::uint32_t>& states);

}  // namespace sluice::fused
