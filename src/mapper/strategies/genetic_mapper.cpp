#include <algorithm>

#include "mapper/request/refusal.h"
#include "mapper/sampling/moves.h"
#include "mapper/sampling/sampling_run.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {
namespace {

using sampling::Candidate;
using sampling::Drawer;
using sampling::Genome;

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
  explicit Evolution(sampling::SamplingRun* run) : run_(*run) {}

  void search() {
    while (!run_.record().over()) {
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
      auto crossed = sampling::cross(child, parent(drawer), &drawer);
      if (crossed) child = std::move(*crossed);
      changed = crossed.has_value();
    }
    // A child that is neither crossed nor mutated would be its parent again.
    if (!changed || drawer.random().chance(kMutation)) {
      auto mutated = sampling::draw_neighbour(child, run_.space(), &run_.use(), &drawer);
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

  sampling::SamplingRun& run_;
  std::vector<Member> population_;
};

}  // namespace

std::string GeneticMapper::description() const {
  return "a population that is crossed (0.7) and mutated (0.2), same space (TileFlow style)";
}

tl::expected<MapperResult, NoMapping> GeneticMapper::map(const BoundProblem& problem,
                                                         const MapperOptions& options,
                                                         const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  sampling::SamplingRun run(problem, options, control);
  Evolution(&run).search();
  return run.finish();
}

}  // namespace sluice
