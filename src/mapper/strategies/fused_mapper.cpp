#include "mapper/strategies/fused_mapper.h"

#include "mapper/fused/join/search.h"
#include "mapper/request/refusal.h"

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
  return fused::Search(problem, options, control).run();
}

}  // namespace sluice
