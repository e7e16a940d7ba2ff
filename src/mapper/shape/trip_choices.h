#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "model/bind/divisors.h"

namespace sluice::fused {

// How often a loop runs is one number in the search. Where all tiles are equal it is the trip
// count; 1 means that there is no loop. Of a loop with uneven tiles it is a code, larger than every
// trip count:
// - imperfect: trip count n and tile T; the last tile is smaller;
// - rows (row_loops.h): n, the first tile F, the later ones S (the last takes the rest), what the
//   backing node of the output holds of them, and the number of the frame, from 1 on.
// Of the loops over one variable only the outermost may be uneven. The tile of the next one divides
// all its tiles, if it walks rows; if it is imperfect it divides all but the last, and loops inside
// run over what is left of the last tile.

constexpr std::int64_t kUnevenMark = std::int64_t{1} << 62;
constexpr std::int64_t kRowMark = std::int64_t{1} << 61;
/// Variables of more values have no imperfect loops.
constexpr std::int64_t kLargestImperfect = (std::int64_t{1} << 30) - 1;
/// Tiles and trip counts of rows, and their frames.
constexpr std::int64_t kLargestRows = (std::int64_t{1} << 12) - 1;
constexpr std::int64_t kMostFrames = (std::int64_t{1} << 13) - 1;

struct RowTrips {
  std::int64_t frame = 0;
  std::int64_t trips = 1;
  std::int64_t first = 1, later = 1;  ///< tiles
  std::int64_t held = 1;              ///< rows that the output's backing node below the loop holds
};

inline std::int64_t imperfect_trips(std::int64_t size, std::int64_t tile) {
  return kUnevenMark | tile << 31 | (size + tile - 1) / tile;
}
inline std::int64_t row_trips(const RowTrips& rows) {
  return kUnevenMark | kRowMark | rows.frame << 48 | rows.held << 36 | rows.trips << 24 |
         rows.first << 12 | rows.later;
}
inline bool is_uneven(std::int64_t trips) { return trips >= kUnevenMark; }
inline bool walks_rows(std::int64_t trips) { return is_uneven(trips) && (trips & kRowMark) != 0; }
inline RowTrips rows_of(std::int64_t trips) {
  return {trips >> 48 & kMostFrames, trips >> 24 & kLargestRows, trips >> 12 & kLargestRows,
          trips & kLargestRows, trips >> 36 & kLargestRows};
}
/// The frame of rows that a loop walks, or 0.
inline std::int64_t row_frame(std::int64_t trips) {
  return walks_rows(trips) ? rows_of(trips).frame : 0;
}
inline std::int64_t trip_count(std::int64_t trips) {
  if (!is_uneven(trips)) return trips;
  return walks_rows(trips) ? rows_of(trips).trips : trips & kLargestImperfect;
}
/// The largest tile inside a loop, of the tile around it.
inline std::int64_t tile_inside(std::int64_t tile, std::int64_t trips) {
  if (!is_uneven(trips)) return tile / trips;
  const RowTrips rows = rows_of(trips);
  return walks_rows(trips) ? std::max(rows.first, rows.later) : trips >> 31 & kLargestImperfect;
}

/// Tiles of one size among those of an uneven loop.
struct EqualTiles {
  std::int64_t tile = 1, count = 0;
};
/// All tiles of an uneven loop over `size` values; counts may be 0.
std::vector<EqualTiles> uneven_tiles(std::int64_t size, std::int64_t trips);

/// What the tile of the next loop over a variable must divide, inside a loop with these trips: all
/// its tiles; of an imperfect loop's tile the factors that a good tile may have: those of the size,
/// of `odd_fanouts` (EinsumShape) and powers of two. `unit`: the same for the loop itself.
std::int64_t unit_inside(std::int64_t size, std::int64_t odd_fanouts, std::int64_t unit,
                         std::int64_t rest, std::int64_t trips);

/// What loops over a variable may run; everything is worked out once. References stay valid.
class TripChoices {
 public:
  /// 1, and the other divisors of a tile that leave a tile that divides `unit`; ascending.
  const std::vector<std::int64_t>& inside(std::int64_t unit, std::int64_t rest);
  /// Imperfect loops over `size` values; see imperfect_tiles.
  const std::vector<std::int64_t>& imperfect(std::int64_t size, std::int64_t odd_fanouts);
  /// Divisors, ascending.
  const std::vector<std::int64_t>& divisors_of(std::int64_t n) { return divisors_.of(n); }

 private:
  DivisorMemo divisors_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> imperfect_, inside_;
};

/// What the next tile inside an imperfect loop over `size` values may be, ascending: numbers below
/// the size that divide `size * odd_fanouts * 2^n`.
std::vector<std::int64_t> tiles_inside_imperfect(std::int64_t size, std::int64_t odd_fanouts);

/// Tiles T of the imperfect loops over `size` values, descending: with some of these t as the next
/// tile, the smallest multiple of t that takes so many steps. All others hold more and take as many
/// steps.
std::vector<std::int64_t> imperfect_tiles(std::int64_t size, std::int64_t odd_fanouts);

}  // namespace sluice::fused
