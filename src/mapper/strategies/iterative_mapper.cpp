#include "mapper/request/refusal.h"
#include "mapper/sampling/chains.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {

std::string IterativeMapper::description() const {
  return "iterative improvement within constraints, from a new start when it stalls (COMET style)";
}

tl::expected<MapperResult, NoMapping> IterativeMapper::map(const BoundProblem& problem,
                                                           const MapperOptions& options,
                                                           const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  sampling::SamplingRun run(problem, options, control);
  constexpr std::size_t kPatiencePerEinsum = 500;
  const auto accept = [](double now, double next, double, sampling::RandomSource&) {
    return next <= now;
  };
  sampling::walk_chains(&run, accept, kPatiencePerEinsum * run.space().n_einsums(), run.progress(),
                        "improving mappings");
  return run.finish();
}

}  // namespace sluice
