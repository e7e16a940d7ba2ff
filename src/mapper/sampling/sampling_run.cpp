#include "sampling_run.h"

#include <algorithm>

#include "mapper/common/parallel.h"
#include "mapper/request/search_space.h"
#include "sluice/mapper/options_table.h"

namespace sluice::sampling {

SamplingRun::SamplingRun(const BoundProblem& problem, const MapperOptions& options,
                         const MapperControl& control, std::size_t templates)
    : space_(problem, options, fused::TemplateLimits{control.cancel, templates}),
      use_(space_),
      record_(space_, control, start_) {}

std::vector<Candidate> SamplingRun::batch(
    std::size_t n, const std::function<std::optional<Genome>(std::size_t, Drawer&)>& make) {
  n = static_cast<std::size_t>(std::min(static_cast<double>(n), record_.remaining()));
  std::vector<Candidate> candidates(n);
  parallel_for(space_.options().threads, n, [&](std::size_t i) {
    if (record_.cancelled()) return;
    Drawer drawer(space_, &use_, RandomSource(space_.options().seed, next_stream_ + i),
                  record_.cancel());
    candidates[i].genome = make(i, drawer);
    if (candidates[i].genome) candidates[i].totals = space_.price(*candidates[i].genome);
    candidates[i].made = true;
  });
  next_stream_ += n;
  for (const Candidate& candidate : candidates) {
    if (!candidate.made) continue;
    if (candidate.genome)
      record_.add(*candidate.genome, candidate.totals);
    else
      record_.add_dead_end();
  }
  return candidates;
}

tl::expected<MapperResult, NoMapping> SamplingRun::finish(bool optimal) const {
  auto found = record_.finish(searched_space(space_.options()), optimal);
  if (found)
    found->guarantee.leaves_out =
        left_out(SearchSpace::kExchanges, space_.problem(), space_.options());
  return found;
}

}  // namespace sluice::sampling
