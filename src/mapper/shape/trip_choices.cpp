#include "trip_choices.h"

#include <functional>
#include <set>

namespace sluice::fused {

std::vector<std::int64_t> tiles_inside_imperfect(std::int64_t size, std::int64_t odd_fanouts) {
  std::set<std::int64_t> tiles;
  for (const std::int64_t of_size : sluice::divisors_of(odd_part_of(size)))
    for (const std::int64_t of_fanouts : sluice::divisors_of(odd_fanouts))
      for (std::int64_t tile = of_size * of_fanouts; tile < size; tile *= 2) tiles.insert(tile);
  return {tiles.begin(), tiles.end()};
}

std::vector<std::int64_t> imperfect_tiles(std::int64_t size, std::int64_t odd_fanouts) {
  std::set<std::int64_t, std::greater<>> tiles;
  for (const std::int64_t inner : tiles_inside_imperfect(size, odd_fanouts)) {
    const std::int64_t parts = (size + inner - 1) / inner;
    for (std::int64_t steps = 2; steps <= parts;) {
      const std::int64_t most = (parts + steps - 1) / steps;
      if (size % (most * inner) != 0) tiles.insert(most * inner);
      if (most == 1) break;
      steps = (parts - 1) / (most - 1) + 1;  // the first with fewer parts at most
    }
  }
  return {tiles.begin(), tiles.end()};
}

const std::vector<std::int64_t>& TripChoices::inside(std::int64_t unit, std::int64_t rest) {
  if (unit % rest == 0) return divisors_of(rest);
  std::vector<std::int64_t>& known = inside_[{unit, rest}];
  if (known.empty())
    for (std::int64_t d : divisors_of(rest))
      if (d == 1 || unit % (rest / d) == 0) known.push_back(d);
  return known;
}

const std::vector<std::int64_t>& TripChoices::imperfect(std::int64_t size,
                                                        std::int64_t odd_fanouts) {
  std::vector<std::int64_t>& known = imperfect_[{size, odd_fanouts}];
  if (known.empty() && size <= kLargestImperfect)
    for (std::int64_t tile : imperfect_tiles(size, odd_fanouts))
      known.push_back(imperfect_trips(size, tile));
  return known;
}

std::vector<EqualTiles> uneven_tiles(std::int64_t size, std::int64_t trips) {
  const std::int64_t n = trip_count(trips);
  if (!walks_rows(trips)) {
    const std::int64_t tile = tile_inside(size, trips);
    return {{tile, n - 1}, {size - tile * (n - 1), 1}};
  }
  const RowTrips rows = rows_of(trips);
  return {{rows.first, 1}, {rows.later, n - 2}, {size - rows.first - rows.later * (n - 2), 1}};
}

std::int64_t unit_inside(std::int64_t size, std::int64_t odd_fanouts, std::int64_t unit,
                         std::int64_t rest, std::int64_t trips) {
  if (trips == 1) return unit;
  if (!is_uneven(trips)) return rest / trips;
  if (!walks_rows(trips)) {
    const std::int64_t tile = tile_inside(size, trips), odd = odd_part_of(tile);
    const std::int64_t of_size = std::gcd(odd, size);
    return tile / odd * of_size * std::gcd(odd / of_size, odd_fanouts);
  }
  std::int64_t common = size;
  for (const EqualTiles& equal : uneven_tiles(size, trips))
    if (equal.count > 0) common = std::gcd(common, equal.tile);
  return common;
}

}  // namespace sluice::fused
