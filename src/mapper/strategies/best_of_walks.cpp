#include "best_of_walks.h"

#include <utility>

namespace sluice {

void BestOfWalks::offer(double objective, const sampling::Genome& genome,
                        const sampling::MapSpace& space) {
  const std::lock_guard lock(mutex_);
  if (!(objective < objective_)) return;
  objective_ = objective;
  choices_.clear();
  for (std::size_t e = 0; e < genome.size(); ++e)
    choices_.push_back({space.templates(e)[genome[e]->templ], genome[e]->trips});
}

std::optional<sampling::Genome> BestOfWalks::below(double objective, sampling::MapSpace* space,
                                                   sampling::FanoutUse* use) const {
  std::vector<Choice> choices;
  {
    const std::lock_guard lock(mutex_);
    if (!(objective_ < objective)) return std::nullopt;
    choices = choices_;
  }
  sampling::Genome genome;
  for (std::size_t e = 0; e < choices.size(); ++e) {
    auto choice = use->choice(e, choices[e].templ, choices[e].trips, space);
    if (!choice) return std::nullopt;
    genome.push_back(std::move(choice));
  }
  return genome;
}

}  // namespace sluice
