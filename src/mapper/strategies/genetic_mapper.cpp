#include "mapper/request/refusal.h"
#include "mapper/sampling/population.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {

std::string GeneticMapper::description() const {
  return "a population that is crossed (0.7) and mutated (0.2), same space (TileFlow style)";
}

tl::expected<MapperResult, NoMapping> GeneticMapper::map(const BoundProblem& problem,
                                                         const MapperOptions& options,
                                                         const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  sampling::SamplingRun run(problem, options, control);
  sampling::breed(&run, run.progress());
  return run.finish();
}

}  // namespace sluice
