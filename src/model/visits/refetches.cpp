#include "model/visits/refetches.h"

#include <set>

#include "model/tree/finish_nests.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// How far an index moves when loop `moving` makes a step and the loops inside it start again.
std::int64_t shift_of(const BoundIndex& index, const NestLoop* loops, int n_loops, int moving) {
  std::int64_t shift = 0;
  for (const BoundTerm& term : index.terms)
    for (int l = moving; l < n_loops; ++l) {
      const NestLoop& loop = loops[l];
      if (loop.spatial || loop.variable != term.variable) continue;
      const std::int64_t steps = l == moving ? 1 : 1 - loop.trips;
      shift = checked_add(shift, checked_multiply(term.coefficient * steps, loop.tile));
    }
  return shift;
}

/// How a step of one loop moves a tile.
struct Move {
  int n_ranks = 0;         ///< ranks along which it moves
  std::size_t rank = 0;    ///< the last of them
  std::int64_t shift = 0;  ///< along it
  bool forwards() const { return n_ranks == 1 && shift > 0; }
};

Move move_of(const BoundAccess& access, const NestLoop* loops, int n_loops, int moving) {
  Move move;
  for (std::size_t rank = 0; rank < access.index.size(); ++rank) {
    const std::int64_t shift = shift_of(access.index[rank], loops, n_loops, moving);
    if (shift != 0) move = {move.n_ranks + 1, rank, shift};
  }
  return move;
}

/// Values of a tile that the tile before the step does not hold, as far as the node can tell: it
/// keeps rows only while every step goes the same way.
std::int64_t new_values(const BoundAccess& access, const std::int64_t* tiles, const Move& move,
                        const Move& innermost) {
  const std::int64_t volume = tile_volume(access, tiles);
  if (move.n_ranks == 0) return 0;
  const std::int64_t extent = tile_extent(access.index[move.rank], tiles);
  const bool slides = !access.is_output && move.forwards() && move.shift < extent &&
                      innermost.forwards() && innermost.rank == move.rank;
  return slides ? volume / extent * move.shift : volume;
}

}  // namespace

Refetches refetches(const BoundAccess& access, const std::int64_t* tiles, const NestLoop* loops,
                    int n_loops) {
  Refetches result{tile_volume(access, tiles), 1};
  Move innermost;
  for (int l = 0; l < n_loops; ++l)
    if (!loops[l].spatial && loops[l].trips > 1) innermost = move_of(access, loops, n_loops, l);
  std::int64_t outer = 1;
  for (int l = 0; l < n_loops; ++l) {
    if (loops[l].spatial || loops[l].trips == 1) continue;
    const std::int64_t fresh =
        new_values(access, tiles, move_of(access, loops, n_loops, l), innermost);
    const std::int64_t steps = checked_multiply(outer, loops[l].trips - 1);
    result.values = checked_add(result.values, checked_multiply(steps, fresh));
    if (fresh > 0) result.visits = checked_add(result.visits, steps);
    outer = checked_multiply(outer, loops[l].trips);
  }
  return result;
}

bool stays_inside(const BoundAccess& access, const NestLoop* loops, int n_outer, int n_inner) {
  for (int l = 0; l < n_outer; ++l)
    if (!loops[l].spatial && loops[l].trips > 1 && move_of(access, loops, n_outer, l).n_ranks > 0 &&
        move_of(access, loops, n_inner, l).n_ranks == 0)
      return true;
  return false;
}

namespace {

/// Different sums of the shifts that these loops give an index.
std::int64_t different_shifts(const BoundIndex& index, const std::vector<const NestLoop*>& loops) {
  std::set<std::int64_t> shifts = {0};
  for (const NestLoop* loop : loops)
    for (const BoundTerm& term : index.terms) {
      if (term.variable != loop->variable) continue;
      std::set<std::int64_t> next;
      for (const std::int64_t shift : shifts)
        for (std::int64_t step = 0; step < loop->trips; ++step)
          next.insert(shift + step * term.coefficient * loop->tile);
      shifts = std::move(next);
    }
  return static_cast<std::int64_t>(shifts.size());
}

bool moves(const BoundIndex& index, const NestLoop& loop) {
  for (const BoundTerm& term : index.terms)
    if (term.variable == loop.variable) return true;
  return false;
}

}  // namespace

std::int64_t different_tiles(const BoundAccess& access, const std::vector<const NestLoop*>& loops) {
  std::int64_t apart = 1, together = 1;
  std::size_t n_seen = 0;
  for (const NestLoop* loop : loops) apart = checked_multiply(apart, loop->trips);
  for (const BoundIndex& index : access.index) {
    std::vector<const NestLoop*> of_index;
    for (const NestLoop* loop : loops)
      if (moves(index, *loop)) of_index.push_back(loop);
    n_seen += of_index.size();
    together = checked_multiply(together, different_shifts(index, of_index));
  }
  return n_seen == loops.size() ? together : apart;  // a loop that moves two indices: never equal
}

}  // namespace sluice
