#include "walks.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "mapper/sampling/chains.h"
#include "mapper/sampling/population.h"

namespace sluice {

MapperOptions options_of_walks(MapperOptions options) {
  options.objectives.resize(1);
  options.resource_usage = false;
  options.top = 4;  // the best so far, to go on from
  options.imperfect_factors = ImperfectFactors::kNone;
  options.row_fusion = false;
  options.explore_einsum_orders = false;
  options.budget_evaluations.reset();
  options.budget_seconds = std::numeric_limits<double>::infinity();  // until they are stopped
  options.threads = 1;
  return options;
}

Walks::Walks(const BoundProblem& problem, const MapperOptions& options,
             const MapperControl& control)
    : run_(std::make_unique<sampling::SamplingRun>(problem, options, control)) {}

Walks::~Walks() = default;

double Walks::evaluations() const { return run_->record().evaluations(); }

void Walks::walk(std::size_t round, double seconds) {
  constexpr double kCool = 0.03;
  const auto begin = std::chrono::steady_clock::now();
  const auto progress = [=] {
    const std::chrono::duration<double> walked = std::chrono::steady_clock::now() - begin;
    return std::min(1.0, walked.count() / seconds);
  };
  const char* phase = "walking";
  switch (round % 4) {
    case 0:
      return sampling::breed(run_.get(), progress);
    case 1:
      return sampling::walk_chains(run_.get(), sampling::annealing(), 0, progress, phase);
    case 2:
      return sampling::walk_chains(run_.get(), sampling::annealing(kCool), 0, progress, phase,
                                   run_->record().elite());
    default:
      return sampling::breed(run_.get(), progress, run_->record().elite());
  }
}

}  // namespace sluice
