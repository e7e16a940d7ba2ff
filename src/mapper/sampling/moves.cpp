#include "moves.h"

#include <algorithm>

#include "mapper/sampling/space/uneven_loops.h"
#include "model/bind/divisors.h"

namespace sluice::sampling {
namespace {

using fused::LoopPlace;

/// A choice with other trip counts, if the space has it.
ChoicePtr with_trips(std::size_t e, const EinsumChoice& choice, Trips trips, const MapSpace& space,
                     FanoutUse* use) {
  if (!space.is_choice(e, choice.templ, trips) || space.overfull(e, choice.templ, trips) ||
      !use->is_enough(e, choice.templ, trips))
    return nullptr;
  return space.make_choice(e, choice.templ, std::move(trips));
}

class Neighbourhood {
 public:
  Neighbourhood(const Genome& genome, const MapSpace& space, FanoutUse* use, Drawer* drawer)
      : genome_(genome), space_(space), use_(*use), drawer_(*drawer), random_(drawer->random()) {}

  /// A shared loop gets a prime factor more or less, in every Einsum that shares it; one of a
  /// single step may become one of several.
  std::optional<Genome> rescale_shared(std::size_t e) {
    std::vector<std::size_t> places;
    const auto& loops = space_.templates(e)[genome_[e]->templ].loops;
    for (std::size_t p = 0; p < loops.size(); ++p)
      if (loops[p].fused) places.push_back(p);
    if (places.empty()) return std::nullopt;
    const std::size_t place = random_.pick(places);
    const std::int64_t tile_and_trips = space_.shape(e).sizes[loops[place].variable];
    const std::int64_t trips = genome_[e]->trips[place];
    if (const UnevenLoops uneven(space_, &random_);
        fused::is_uneven(trips) || uneven.are_next_if_shared())
      return make_uneven(e, place, uneven);
    const bool grow = trips == 1 || random_.chance(0.5);
    const auto primes = primes_of(grow ? tile_and_trips / trips : trips);
    if (primes.empty()) return std::nullopt;
    const std::int64_t prime = random_.pick(primes);
    Genome result = genome_;
    for (const auto& [sharer, at] : sharers(e, place)) {
      ChoicePtr choice = rescaled(sharer, at, prime, grow);
      if (!choice) return std::nullopt;
      result[sharer] = std::move(choice);
    }
    if (!drawer_.mend(&result, result.size())) return std::nullopt;
    return result;
  }

  std::optional<Genome> draw() {
    const double kind = random_.unit();
    if (kind < 0.4) return shift_factor();
    if (kind < 0.5) return redraw_unfused();
    if (kind < 0.7) return rescale_shared(random_.below(genome_.size()));
    return redraw_einsum();
  }

 private:
  /// A shared loop gets uneven tiles, or others, and what is inside it new trip counts.
  std::optional<Genome> make_uneven(std::size_t e, std::size_t place, const UnevenLoops& uneven) {
    Genome result = genome_;
    std::int64_t shared = 0;
    for (const auto& [sharer, at] : sharers(e, place)) {
      Trips trips = genome_[sharer]->trips;
      const std::uint32_t templ = genome_[sharer]->templ;
      if (shared == 0 ? !uneven.draw_at(sharer, templ, at, &trips)
                      : !uneven.fill(sharer, templ, at, shared, &trips))
        return std::nullopt;
      shared = trips[at];
      ChoicePtr choice = changed(sharer, std::move(trips));
      if (!choice) return std::nullopt;
      result[sharer] = std::move(choice);
    }
    if (!drawer_.mend(&result, result.size())) return std::nullopt;
    return result;
  }

  ChoicePtr changed(std::size_t e, Trips trips) const {
    return with_trips(e, *genome_[e], std::move(trips), space_, &use_);
  }

  std::optional<Genome> shift_factor() {
    const std::size_t e = random_.below(genome_.size());
    return with(e, sampling::shift_factor(e, *genome_[e], space_, &use_, &random_));
  }

  std::optional<Genome> redraw_unfused() {
    const std::size_t e = random_.below(genome_.size());
    return with(e, drawer_.redraw_unfused(e, *genome_[e]));
  }

  std::optional<Genome> with(std::size_t e, ChoicePtr choice) const {
    if (!choice) return std::nullopt;
    Genome result = genome_;
    result[e] = std::move(choice);
    return result;
  }

  std::optional<Genome> redraw_einsum() {
    const std::size_t e = random_.below(genome_.size());
    fused::Spine prefix, joined;
    for (std::size_t before = 0; before < e; ++before)
      prefix = *space_.join(prefix, before, *genome_[before]);
    auto result = with(e, drawer_.draw(prefix, e, &joined));
    if (!result || !drawer_.mend(&*result, e + 1)) return std::nullopt;
    return result;
  }

  /// The loop places of all Einsums that are one loop of the tree, from one fused place on.
  std::vector<std::pair<std::size_t, std::size_t>> sharers(std::size_t e, std::size_t place) const {
    const LoopPlace& loop = space_.templates(e)[genome_[e]->templ].loops[place];
    const std::int64_t trips = genome_[e]->trips[place];
    std::vector<std::pair<std::size_t, std::size_t>> result{{e, place}};
    // Neighbours that exchange a tensor below a loop of the same extent over the same rank.
    for (std::size_t i = 0; i < result.size(); ++i)
      for (std::size_t other = 0; other < genome_.size(); ++other) {
        const bool known = std::any_of(result.begin(), result.end(),
                                       [&](const auto& sharer) { return sharer.first == other; });
        if (known) continue;
        if (const auto at = partner(result[i].first, result[i].second, other, loop, trips))
          result.emplace_back(other, *at);
      }
    return result;
  }

  std::optional<std::size_t> partner(std::size_t e, std::size_t place, std::size_t other,
                                     const LoopPlace& loop, std::int64_t trips) const {
    const auto& mine = space_.templates(e)[genome_[e]->templ];
    const auto& theirs = space_.templates(other)[genome_[other]->templ];
    for (const fused::Slot& slot : mine.slots) {
      if (!slot.shared || slot.gap <= mine.loops[place].gap) continue;
      const TensorId id = space_.shape(e).tensors[slot.tensor].id;
      const std::int32_t rank =
          space_.shape(e).shared_rank(slot.tensor, mine.loops[place].variable, loop.spatial);
      for (const fused::Slot& there : theirs.slots) {
        if (!there.shared || space_.shape(other).tensors[there.tensor].id != id) continue;
        for (std::size_t p = 0; p < theirs.loops.size(); ++p) {
          const LoopPlace& candidate = theirs.loops[p];
          if (candidate.fused && candidate.gap < there.gap && candidate.spatial == loop.spatial &&
              candidate.component == loop.component && candidate.dimension == loop.dimension &&
              genome_[other]->trips[p] == trips &&
              space_.shape(other).shared_rank(there.tensor, candidate.variable,
                                              candidate.spatial) == rank)
            return p;
        }
      }
    }
    return std::nullopt;
  }

  /// A prime factor goes to (grow) or from a fused place, from or to an unfused one.
  ChoicePtr rescaled(std::size_t e, std::size_t place, std::int64_t prime, bool grow) {
    const auto& loops = space_.templates(e)[genome_[e]->templ].loops;
    Trips trips = genome_[e]->trips;
    if (is_uneven(space_.templates(e)[genome_[e]->templ], trips, loops[place].variable))
      return nullptr;
    std::vector<std::size_t> others;
    for (std::size_t p = 0; p < loops.size(); ++p)
      if (!loops[p].fused && !loops[p].spatial && loops[p].variable == loops[place].variable &&
          (!grow || trips[p] % prime == 0))
        others.push_back(p);
    if (others.empty() || (!grow && trips[place] % prime != 0)) return nullptr;
    const std::size_t other = random_.pick(others);
    trips[grow ? place : other] *= prime;
    trips[grow ? other : place] /= prime;
    return changed(e, std::move(trips));
  }

  const Genome& genome_;
  const MapSpace& space_;
  FanoutUse& use_;
  Drawer& drawer_;
  RandomSource& random_;
};

}  // namespace

std::optional<Genome> rescale_shared(const Genome& genome, std::size_t e, const MapSpace& space,
                                     FanoutUse* use, Drawer* drawer) {
  return Neighbourhood(genome, space, use, drawer).rescale_shared(e);
}

ChoicePtr shift_factor(std::size_t e, const EinsumChoice& choice, const MapSpace& space,
                       FanoutUse* use, RandomSource* random) {
  const UnevenLoops uneven(space, random);
  if (uneven.are_next()) {
    Trips trips = choice.trips;
    if (!uneven.draw(e, choice.templ, &trips)) return nullptr;
    return with_trips(e, choice, std::move(trips), space, use);
  }
  const fused::Template& templ = space.templates(e)[choice.templ];
  const auto& loops = templ.loops;
  std::vector<std::pair<std::size_t, std::size_t>> moves;
  for (std::size_t from = 0; from < loops.size(); ++from)
    for (std::size_t to = 0; to < loops.size(); ++to)
      if (from != to && !loops[from].fused && !loops[to].fused && choice.trips[from] > 1 &&
          loops[from].variable == loops[to].variable &&
          !is_uneven(templ, choice.trips, loops[from].variable))
        moves.emplace_back(from, to);
  if (moves.empty()) return nullptr;
  const auto [from, to] = random->pick(moves);
  Trips trips = choice.trips;
  const std::int64_t prime = random->pick(primes_of(trips[from]));
  trips[from] /= prime;
  trips[to] *= prime;
  return with_trips(e, choice, std::move(trips), space, use);
}

std::optional<Genome> draw_neighbour(const Genome& genome, const MapSpace& space, FanoutUse* use,
                                     Drawer* drawer) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i)
    if (auto neighbour = Neighbourhood(genome, space, use, drawer).draw()) return neighbour;
  return std::nullopt;
}

std::optional<Genome> cross(const Genome& first, const Genome& second, Drawer* drawer) {
  const std::size_t cut = drawer->random().below(first.size() + 1);
  Genome child(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cut));
  child.insert(child.end(), second.begin() + static_cast<std::ptrdiff_t>(cut), second.end());
  if (!drawer->mend(&child, cut)) return std::nullopt;
  return child;
}

}  // namespace sluice::sampling
