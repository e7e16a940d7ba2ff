#include "chains.h"

#include <algorithm>
#include <cmath>

#include "moves.h"

namespace sluice::sampling {
namespace {

constexpr std::size_t kChains = 4;
constexpr std::size_t kLarge = 24;  // Einsums, above which a mapping is hardly found by chance

struct Chain {
  Genome now;
  double objective = 0;
  std::size_t in_vain = 0;
};

/// One chain from each start.
std::vector<Chain> chains_from(SamplingRun* run, const std::vector<Genome>& starts) {
  std::vector<Chain> chains(kChains);
  for (std::size_t i = 0; i < std::min(starts.size(), kChains); ++i)
    if (const auto objective = run->record().objective(run->space().price(starts[i])))
      chains[i] = {starts[i], *objective};
  return chains;
}

}  // namespace

Acceptance annealing(double first, double last) {
  return [=](double now, double next, double progress, RandomSource& random) {
    if (next <= now) return true;
    const double temperature = first * std::pow(last / first, progress);
    return random.unit() < std::exp(-(next - now) / (now * temperature));
  };
}

void walk_chains(SamplingRun* run, const Acceptance& accept, std::size_t patience,
                 const Progress& progress_now, const char* phase,
                 const std::vector<Genome>& starts) {
  std::vector<Chain> chains = chains_from(run, starts);
  RandomSource dice(run->space().options().seed);
  const bool is_large = run->space().n_einsums() > kLarge;
  while (!run->record().over() && progress_now() < 1) {
    const double progress = progress_now();
    const std::vector<Candidate> made =
        run->batch(chains.size(), [&](std::size_t i, Drawer& drawer) {
          if (chains[i].now.empty() && (is_large || chains[i].in_vain % 2 == 1))
            return drawer.draw_plain_mapping();
          return chains[i].now.empty()
                     ? drawer.draw_mapping()
                     : draw_neighbour(chains[i].now, run->space(), &run->use(), &drawer);
        });
    for (std::size_t i = 0; i < made.size(); ++i) {
      Chain& chain = chains[i];
      const auto next = run->record().objective(made[i].totals);
      const bool moves =
          next && (chain.now.empty() || accept(chain.objective, *next, progress, dice));
      chain.in_vain =
          next && (chain.now.empty() || *next < chain.objective) ? 0 : chain.in_vain + 1;
      if (moves) {
        chain.now = *made[i].genome;
        chain.objective = *next;
      }
      if (patience > 0 && chain.in_vain >= patience) chain = Chain{};
    }
    run->record().report(phase);
  }
}

}  // namespace sluice::sampling
