#include "population.h"

#include <algorithm>

#include "moves.h"

namespace sluice::sampling {
namespace {

// TileFlow's, as in FFM §7.2.
constexpr std::size_t kPopulation = 10;
constexpr double kCrossover = 0.7;
constexpr double kMutation = 0.2;

struct Member {
  Genome genome;
  double objective = 0;
};

class Evolution {
 public:
  Evolution(SamplingRun* run, const std::vector<Genome>& starts) : run_(*run) {
    for (const Genome& start : starts)
      if (const auto objective = run_.record().objective(run_.space().price(start)))
        add({start, *objective});
  }

  void search(const Progress& progress) {
    while (!run_.record().over() && progress() < 1) {
      const bool found_some = population_.size() >= 2;
      const std::vector<Candidate> made = run_.batch(kPopulation, [&](std::size_t, Drawer& drawer) {
        return found_some ? offspring(drawer) : drawer.draw_mapping();
      });
      for (const Candidate& candidate : made) {
        const auto objective = run_.record().objective(candidate.totals);
        if (objective) add({*candidate.genome, *objective});
      }
      run_.record().report("breeding mappings");
    }
  }

 private:
  /// The better of two.
  const Genome& parent(Drawer& drawer) const {
    const Member& a = population_[drawer.random().below(population_.size())];
    const Member& b = population_[drawer.random().below(population_.size())];
    return a.objective <= b.objective ? a.genome : b.genome;
  }

  std::optional<Genome> offspring(Drawer& drawer) const {
    Genome child = parent(drawer);
    bool changed = false;
    if (drawer.random().chance(kCrossover)) {
      auto crossed = cross(child, parent(drawer), &drawer);
      if (crossed) child = std::move(*crossed);
      changed = crossed.has_value();
    }
    // A child that is neither crossed nor mutated would be its parent again.
    if (!changed || drawer.random().chance(kMutation)) {
      auto mutated = draw_neighbour(child, run_.space(), &run_.use(), &drawer);
      if (mutated) return mutated;
      if (!changed) return std::nullopt;
    }
    return child;
  }

  /// Keeps the best, best first, no price twice.
  void add(Member member) {
    const auto at = std::lower_bound(
        population_.begin(), population_.end(), member.objective,
        [](const Member& other, double objective) { return other.objective < objective; });
    if (at != population_.end() && at->objective == member.objective) return;
    population_.insert(at, std::move(member));
    if (population_.size() > kPopulation) population_.pop_back();
  }

  SamplingRun& run_;
  std::vector<Member> population_;
};

}  // namespace

void breed(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts) {
  Evolution(run, starts).search(progress);
}

}  // namespace sluice::sampling
