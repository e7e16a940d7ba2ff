#include "sluice/mapper/fused_mapper.h"

#include "fused/constraint_rules.h"
#include "fused/search.h"

namespace sluice {

std::string FusedMapper::description() const {
  return "provably optimal fused mappings: partial mappings per Einsum, joined on compatible loops "
         "(FFM)";
}

tl::expected<MapperResult, NoMapping> FusedMapper::map(const BoundProblem& problem,
                                                       const MapperOptions& options,
                                                       const MapperControl& control) const {
  if (auto no = fused::refused_request(*this, options, problem.workload))
    return tl::make_unexpected(std::move(*no));
  auto found = fused::Search(problem, options, control).run();
  if (found || !control.known_objective || is_cancelled(control.cancel)) return found;
  MapperControl afresh = control;  // the known mapping is none of this space
  afresh.known_objective.reset();
  return fused::Search(problem, options, afresh).run();
}

}  // namespace sluice
