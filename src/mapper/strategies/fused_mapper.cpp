#include "mapper/strategies/fused_mapper.h"

#include <memory>

#include "by_parts.h"
#include "mapper/common/network_cost.h"
#include "mapper/fused/join/search.h"
#include "mapper/request/refusal.h"
#include "sluice/mapper/leftovers.h"

namespace sluice {

std::string FusedMapper::description() const {
  return "provably optimal fused mappings: partial mappings per Einsum, joined on compatible loops "
         "(FFM)";
}

std::optional<UnpricedPart> FusedMapper::unpriced(const BoundProblem& problem,
                                                  const MapperOptions& options) const {
  return not_compiled(problem, options);
}

tl::expected<MapperResult, NoMapping> FusedMapper::map(const BoundProblem& problem,
                                                       const MapperOptions& options,
                                                       const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  if (has_whole_actions(problem.arch))  // compiled prices are sums of products
    return map_by_parts(problem, options, control,
                        [&](const BoundProblem& parts, const MapperControl& own) {
                          return map(parts, options, own);
                        });
  // Compiled steps are those of nodes that do not sink; all templates have others.
  MapperOptions searched = options;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes)
      if (waits_by_steps(problem, compute) || array_above(problem, compute))
        searched.pruning.redundant_templates = true;
  const auto search = std::make_shared<fused::Search>(problem, searched, control);
  auto outcome = search->run();
  if (control.leftovers != nullptr && is_cancelled(control.cancel)) control.leftovers->add(search);
  return outcome;
}

}  // namespace sluice
