#include "uneven_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/bind/divisors.h"

namespace sluice::sampling {
namespace {

std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

}  // namespace

/// Those that have a loop to be uneven, and one below it.
std::vector<UnevenLoops::Variable> UnevenLoops::variables(std::size_t e, std::uint32_t templ,
                                                          const Trips& trips) const {
  const fused::EinsumShape& shape = space_.shape(e);
  const auto& loops = space_.templates(e)[templ].loops;
  std::vector<Variable> result(shape.sizes.size());
  for (std::uint32_t v = 0; v < result.size(); ++v) result[v].size = shape.sizes[v];
  std::vector<bool> is_shared(result.size(), false);
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (!loops[l].fused) result[loops[l].variable].places.push_back(l);
    if (loops[l].fused && trips[l] > 1) is_shared[loops[l].variable] = true;
  }
  std::vector<Variable> open;
  for (std::uint32_t v = 0; v < result.size(); ++v)
    if (!is_shared[v] && shape.tiles_freely(v) && result[v].places.size() >= 2 &&
        result[v].size <= fused::kLargestImperfect)
      open.push_back(std::move(result[v]));
  return open;
}

/// How often the outermost loop runs over so many parts: as often as loops inside that take
/// `most_parts` at a time ask for, or any number, small ones more often.
std::int64_t UnevenLoops::draw_steps(std::int64_t parts, std::int64_t most_parts) const {
  constexpr double kFull = 0.5;
  if (most_parts < parts && random_.chance(kFull)) return divide_up(parts, most_parts);
  return std::llround(std::pow(static_cast<double>(parts), random_.unit()));
}

bool UnevenLoops::draw(std::size_t e, std::uint32_t templ, Trips* trips) const {
  const std::vector<Variable> open = variables(e, templ, *trips);
  if (open.empty()) return false;
  const Variable& own = random_.pick(open);
  const auto& loops = space_.templates(e)[templ].loops;
  const std::size_t outer = random_.below(own.places.size() - 1);
  const std::size_t inner = outer + 1 + random_.below(own.places.size() - outer - 1);
  const fused::LoopPlace& place = loops[own.places[inner]];
  const std::int64_t most =
      place.spatial ? space_.problem().arch[place.component].spatial[place.dimension].fanout
                    : std::numeric_limits<std::int64_t>::max();
  // The next tile inside divides the size, so that it divides the last tile, too.
  const bool is_last = inner + 1 == own.places.size();
  std::int64_t rest = is_last ? 1 : random_.pick(divisors_of(own.size));
  const std::int64_t parts = own.size / rest;
  const std::int64_t tile = divide_up(parts, draw_steps(parts, most)) * rest;
  if (tile == rest || tile == own.size) return false;
  for (const std::size_t l : own.places) (*trips)[l] = 1;
  (*trips)[own.places[outer]] =
      own.size % tile == 0 ? own.size / tile : fused::imperfect_trips(own.size, tile);
  (*trips)[own.places[inner]] = tile / rest;
  for (; rest > 1; rest /= smallest_prime_of(rest))
    (*trips)[own.places[inner + 1 + random_.below(own.places.size() - inner - 1)]] *=
        smallest_prime_of(rest);
  return true;
}

}  // namespace sluice::sampling
