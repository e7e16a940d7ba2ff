#include "shape_walk.h"

#include "chains.h"
#include "model/bind/divisors.h"

namespace sluice::sampling {

std::vector<ShapeWalk::Places> ShapeWalk::places_of(std::size_t e,
                                                    const EinsumChoice& start) const {
  const auto& loops = space_.templates(e)[start.templ].loops;
  std::vector<Places> result(space_.shape(e).sizes.size());
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (!loops[l].fused) result[loops[l].variable].loops.push_back(l);
  for (std::uint32_t v = 0; v < result.size(); ++v) {
    result[v].variable = v;
    result[v].primes = primes_of(space_.shape(e).sizes[v]);
  }
  std::erase_if(result, [](const Places& places) {
    return places.loops.size() < 2 || places.primes.empty();
  });
  return result;
}

bool ShapeWalk::move_factor(const Places& places, Trips* trips) {
  const std::size_t from = random_.pick(places.loops), to = random_.pick(places.loops);
  const std::int64_t prime = random_.pick(places.primes);
  if (from == to || (*trips)[from] % prime != 0) return false;
  (*trips)[from] /= prime;
  (*trips)[to] *= prime;
  return true;
}

/// Whether it took one: within all but the fanouts and limits of the space.
bool ShapeWalk::step(std::size_t e, std::uint32_t templ, const std::vector<Places>& places,
                     Trips* trips) {
  if (places.empty() || uneven_.are_next()) return uneven_.draw(e, templ, trips);
  const Places& own = random_.pick(places);
  if (uneven_.may_have_any() && is_uneven(space_.templates(e)[templ], *trips, own.variable))
    return false;
  return move_factor(own, trips);
}

std::pair<ChoicePtr, CostTotals> ShapeWalk::best(std::size_t e, const EinsumChoice& start,
                                                 fused::TemplatePrice* price, const Share& share,
                                                 int steps, double heat) {
  const std::vector<Places> places = places_of(e, start);
  const auto first = price->of(start.trips);
  if ((places.empty() && !uneven_.may_have_any()) || !first) return {};
  const Acceptance accept = annealing(heat);
  double now = share(totals_of(*first)), least = now;
  Trips trips = start.trips, next = trips, best_trips;
  CostTotals best;
  for (int i = 0; i < steps; ++i) {
    next = trips;
    if (!step(e, start.templ, places, &next)) continue;
    const auto own = price->of(next);
    if (!own) continue;
    const CostTotals cost = totals_of(*own);
    const double value = share(cost);
    if (!accept(now, value, static_cast<double>(i) / steps, random_)) continue;
    std::swap(trips, next);
    now = value;
    if (value >= least || !space_.is_choice(e, start.templ, trips) ||
        !use_.is_enough(e, start.templ, trips))
      continue;
    least = value;
    best_trips = trips;
    best = cost;
  }
  if (best_trips.empty()) return {};
  return {space_.make_choice(e, start.templ, std::move(best_trips)), std::move(best)};
}

}  // namespace sluice::sampling
