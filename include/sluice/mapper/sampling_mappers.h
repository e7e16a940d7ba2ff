#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Mappers to compare the fused one with. They search its space, one whole mapping after another,
/// each priced by the model; none proves anything but `exhaustive`.
/// - A budget of evaluations, of seconds, or both ends them (neither: 100,000 evaluations); cancelled
///   ones return the best so far. SearchStatistics::convergence says when each improvement came.
/// - With a budget of evaluations the mappings depend on the seed alone, not on threads or time.

/// Independent random mappings (Timeloop).
class RandomMapper final : public Mapper {
 public:
  std::string name() const override { return "random"; }
  std::string description() const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

}  // namespace sluice
