#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/nest.h"

namespace sluice {

/// What a loop above a place does to the values that are moved there.
enum class LoopEffect : std::uint8_t {
  kEvery,   ///< every step moves its own values
  kOnce,    ///< the largest step alone: all share its transfer, or it is the busiest instance's
  kSlide,   ///< every step moves the rows that the step before did not hold
  kAt,      ///< only one step counts: see `steps`
  kUnited,  ///< what several steps see counts once (first_sights.h)
};

/// The visits of a place, one of an access's tile each: how the loops above it count, outermost
/// first.
struct Visits {
  const NestLoop* loops = nullptr;
  const std::vector<LoopEffect>& effects;
  const BoundAccess& access;
  const std::vector<VariableRange>& ranges;  ///< of the Einsum's variables
  const NestStorage* storage = nullptr;      ///< the place; null: the compute
  const std::int64_t* steps = nullptr;       ///< of loops with the effect kAt

  int n_loops() const { return static_cast<int>(effects.size()); }
};

/// Σ over the visits of a place, below the first `n_loops` of `loops`, of the volume of an access's
/// tile there; `effects[l]` says how loop l counts. Tiles need not divide: the last one is smaller.
/// `sizes` are the full sizes of the Einsum's variables; `steps[l]` is the step of a loop whose
/// effect is kAt (may be null where there is none).
std::int64_t visit_sum(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                       const BoundAccess& access, const std::vector<VariableRange>& sizes,
                       const std::int64_t* steps = nullptr);

}  // namespace sluice
