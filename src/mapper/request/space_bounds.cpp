#include "sluice/mapper/space_bounds.h"

#include "constrained_problem.h"
#include "sluice/model/concurrent_bounds.h"

namespace sluice {

Factors factors_of(const MapperOptions& options) {
  const bool is_perfect =
      options.imperfect_factors == ImperfectFactors::kNone && !options.row_fusion;
  return is_perfect ? Factors::kPerfect : Factors::kAny;
}

bool is_sequential(const Mapper& mapper, const BoundProblem& problem) {
  return problem.einsums.size() < 2 || !mapper.makes_concurrent_splits();
}

CostBounds space_bounds(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options) {
  if (options.constraints != Constraints{}) {
    MapperOptions free = options;
    free.constraints = {};
    return space_bounds(mapper, constrained(problem, options.constraints), free);
  }
  if (!is_sequential(mapper, problem)) return concurrent_bounds(problem, factors_of(options));
  const CostBounds bounds = cost_bounds(problem, factors_of(options));
  return options.policy == LatencyPolicy::kOverlap ? overlap_bounds(problem, bounds) : bounds;
}

}  // namespace sluice
