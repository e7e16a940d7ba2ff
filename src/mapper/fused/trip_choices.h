#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::fused {

// How often a loop runs is one number in the search: its trip count where it divides its tile, or,
// of an imperfect loop (whose last tile is smaller), a code of its trip count and its tile. 1 means
// that there is no loop; a code is larger than every trip count. Of the loops over one variable
// only the outermost may be imperfect, and the tile of the next one divides the variable's size.

/// Variables of more values have no imperfect loops.
constexpr std::int64_t kLargestImperfect = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kImperfectMark = std::int64_t{1} << 62;

inline std::int64_t imperfect_trips(std::int64_t size, std::int64_t tile) {
  return kImperfectMark | tile << 31 | (size + tile - 1) / tile;
}
inline bool is_imperfect(std::int64_t trips) { return trips >= kImperfectMark; }
inline std::int64_t trip_count(std::int64_t trips) {
  return is_imperfect(trips) ? trips & kLargestImperfect : trips;
}
/// The (largest) tile inside a loop, of the tile around it.
inline std::int64_t tile_inside(std::int64_t tile, std::int64_t trips) {
  return is_imperfect(trips) ? trips >> 31 & kLargestImperfect : tile / trips;
}

/// What loops over a variable may run; everything is worked out once.
class TripChoices {
 public:
  /// Of a loop over a variable of `size` values inside a tile of `rest`, where further loops may
  /// stand inside: 1 and the other divisors, ascending, then the imperfect ones, if they are
  /// wanted. The reference stays valid.
  const std::vector<std::int64_t>& of(std::int64_t size, std::int64_t rest, bool imperfect);

  /// Ascending. The reference stays valid.
  const std::vector<std::int64_t>& divisors_of(std::int64_t n);

 private:
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> divisors_;   // of a number
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> outermost_;  // of a size
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> inside_;
};

/// Tiles T of the imperfect loops over `size` values, descending: with some divisor t of the size
/// as the next tile, the smallest multiple of t that takes so many steps. All others hold more and
/// take as many steps.
std::vector<std::int64_t> imperfect_tiles(std::int64_t size);

}  // namespace sluice::fused
