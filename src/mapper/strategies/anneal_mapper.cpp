#include <cmath>

#include "mapper/request/refusal.h"
#include "mapper/sampling/chains.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {
namespace {

// A step that is worse by this share is taken with probability 1/e.
constexpr double kFirstTemperature = 0.3;
constexpr double kLastTemperature = 0.001;

}  // namespace

std::string AnnealMapper::description() const {
  return "simulated annealing from random mappings, same space (SET style)";
}

tl::expected<MapperResult, NoMapping> AnnealMapper::map(const BoundProblem& problem,
                                                        const MapperOptions& options,
                                                        const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  sampling::SamplingRun run(problem, options, control);
  const auto accept = [](double now, double next, double progress, sampling::RandomSource& random) {
    if (next <= now) return true;
    const double temperature =
        kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, progress);
    return random.unit() < std::exp(-(next - now) / (now * temperature));
  };
  sampling::walk_chains(&run, accept, 0, "annealing mappings");
  return run.finish();
}

}  // namespace sluice
