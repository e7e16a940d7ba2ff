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
    : problem_(problem), options_(options), control_(control) {}

Walks::~Walks() = default;

double Walks::evaluations() const {
  double sum = 0;
  for (const auto& run : {first_.get(), run_.get()})
    if (run != nullptr) sum += run->record().evaluations();
  return sum;
}

sampling::SamplingRun& Walks::run_of(std::size_t round) {
  constexpr std::size_t kFewTemplates = 200;
  if (round > 0 && !run_)
    run_ = std::make_unique<sampling::SamplingRun>(problem_, options_, control_);
  if (round == 0 && !first_)
    first_ = std::make_unique<sampling::SamplingRun>(problem_, options_, control_, kFewTemplates);
  return round == 0 ? *first_ : *run_;
}

void Walks::walk(std::size_t round, double seconds) {
  constexpr double kCool = 0.03, kLongestFirst = 1;  // s
  sampling::SamplingRun& run = run_of(round);
  const auto begin = std::chrono::steady_clock::now();
  const auto progress = [&, begin] {
    const bool has_any = round > 0 || !run.record().elite().empty();
    const std::chrono::duration<double> walked = std::chrono::steady_clock::now() - begin;
    return std::min(1.0, walked.count() / (has_any ? seconds : std::max(seconds, kLongestFirst)));
  };
  const char* phase = "walking";
  if (round == 0) return sampling::walk_chains(&run, sampling::annealing(), 0, progress, phase);
  switch (round % 4) {
    case 1:
      return sampling::breed(&run, progress);
    case 2:
      return sampling::walk_chains(&run, sampling::annealing(), 0, progress, phase);
    case 3:
      return sampling::walk_chains(&run, sampling::annealing(kCool), 0, progress, phase,
                                   run.record().elite());
    default:
      return sampling::breed(&run, progress, run.record().elite());
  }
}

}  // namespace sluice
