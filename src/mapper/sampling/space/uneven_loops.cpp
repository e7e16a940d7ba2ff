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

/// Of the same variable; no other Einsum shares them.
std::vector<std::size_t> UnevenLoops::places_inside(const fused::Template& templ,
                                                    std::size_t outer) const {
  std::vector<std::size_t> places;
  for (std::size_t l = outer + 1; l < templ.loops.size(); ++l)
    if (templ.loops[l].variable == templ.loops[outer].variable && !templ.loops[l].fused)
      places.push_back(l);
  return places;
}

/// The loop `inside[first]` cuts a tile into tiles of `rest`, later ones share out the rest.
void UnevenLoops::spread(const fused::Template& templ, const std::vector<std::size_t>& inside,
                         std::size_t first, std::int64_t tile, std::int64_t rest,
                         Trips* trips) const {
  const std::uint32_t v = templ.loops[inside[first]].variable;
  for (std::size_t l = 0; l < trips->size(); ++l)
    if (templ.loops[l].variable == v) (*trips)[l] = 1;
  (*trips)[inside[first]] = tile / rest;
  for (; rest > 1; rest /= smallest_prime_of(rest))
    (*trips)[inside[first + 1 + random_.below(inside.size() - first - 1)]] *=
        smallest_prime_of(rest);
}

bool UnevenLoops::draw(std::size_t e, std::uint32_t templ, Trips* trips) const {
  const std::vector<Variable> open = variables(e, templ, *trips);
  if (open.empty()) return false;
  const Variable& own = random_.pick(open);
  return draw_at(e, templ, own.places[random_.below(own.places.size() - 1)], trips);
}

bool UnevenLoops::draw_at(std::size_t e, std::uint32_t t, std::size_t outer, Trips* trips) const {
  const fused::EinsumShape& shape = space_.shape(e);
  const fused::Template& templ = space_.templates(e)[t];
  const std::uint32_t v = templ.loops[outer].variable;
  const std::int64_t size = shape.sizes[v];
  const std::vector<std::size_t> inside = places_inside(templ, outer);
  if (inside.empty() || !shape.tiles_freely(v) || size > fused::kLargestImperfect) return false;
  const std::size_t first = random_.below(inside.size());
  const fused::LoopPlace& place = templ.loops[inside[first]];
  const std::int64_t most =
      place.spatial ? space_.problem().arch[place.component].spatial[place.dimension].fanout
                    : std::numeric_limits<std::int64_t>::max();
  const bool is_last = first + 1 == inside.size();
  const std::int64_t rest = is_last ? 1 : random_.pick(space_.tiles_inside_imperfect(size));
  const std::int64_t parts = divide_up(size, rest);
  const std::int64_t tile = divide_up(parts, draw_steps(parts, most)) * rest;
  if (tile == rest || tile >= size) return false;
  spread(templ, inside, first, tile, rest, trips);
  (*trips)[outer] = size % tile == 0 ? size / tile : fused::imperfect_trips(size, tile);
  return true;
}

bool UnevenLoops::fill(std::size_t e, std::uint32_t t, std::size_t outer, std::int64_t outer_trips,
                       Trips* trips) const {
  const fused::EinsumShape& shape = space_.shape(e);
  const fused::Template& templ = space_.templates(e)[t];
  const std::int64_t size = shape.sizes[templ.loops[outer].variable];
  const std::vector<std::size_t> inside = places_inside(templ, outer);
  const std::int64_t tile = fused::tile_inside(size, outer_trips);
  if (inside.empty()) return false;
  const std::size_t first = random_.below(inside.size());
  const std::int64_t unit = fused::unit_inside(size, shape.odd_fanouts, size, size, outer_trips);
  const bool is_last = first + 1 == inside.size();
  const std::int64_t rest = is_last ? 1 : random_.pick(divisors_of(unit));
  spread(templ, inside, first, tile, rest, trips);
  (*trips)[outer] = outer_trips;
  return true;
}

}  // namespace sluice::sampling
