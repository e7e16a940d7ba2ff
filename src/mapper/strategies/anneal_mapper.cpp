#include "mapper/request/refusal.h"
#include "mapper/sampling/chains.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {

std::string AnnealMapper::description() const {
  return "simulated annealing from random mappings, same space (SET style)";
}

tl::expected<MapperResult, NoMapping> AnnealMapper::map(const BoundProblem& problem,
                                                        const MapperOptions& options,
                                                        const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  sampling::SamplingRun run(problem, options, control);
  sampling::walk_chains(&run, sampling::annealing(), 0, run.progress(), "annealing mappings");
  return run.finish();
}

}  // namespace sluice
