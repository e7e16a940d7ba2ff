#include "sluice/mapper/space_bounds.h"

namespace sluice {

Factors factors_of(const MapperOptions& options) {
  const bool is_perfect =
      options.imperfect_factors == ImperfectFactors::kNone && !options.row_fusion;
  return is_perfect ? Factors::kPerfect : Factors::kAny;
}

CostBounds space_bounds(const Mapper& mapper, const BoundProblem& problem,
                        const MapperOptions& options) {
  const bool is_sequential = problem.einsums.size() < 2 || !mapper.makes_concurrent_splits();
  return is_sequential ? cost_bounds(problem, factors_of(options)) : concurrent_bounds(problem);
}

}  // namespace sluice
