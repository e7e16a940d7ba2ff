#include "chains.h"

#include "moves.h"

namespace sluice::sampling {
namespace {

constexpr std::size_t kChains = 4;

struct Chain {
  Genome now;
  double objective = 0;
  std::size_t in_vain = 0;
};

}  // namespace

void walk_chains(SamplingRun* run, const Acceptance& accept, std::size_t patience,
                 const char* phase) {
  std::vector<Chain> chains(kChains);
  RandomSource dice(run->space().options().seed);
  while (!run->record().over()) {
    const double progress = run->record().progress();
    const std::vector<Candidate> made =
        run->batch(chains.size(), [&](std::size_t i, Drawer& drawer) {
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
