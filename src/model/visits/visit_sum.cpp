#include "model/visits/visit_sum.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "model/bind/index_extent.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// `count` visits see a tile of this size of one variable.
struct TileCount {
  std::int64_t size = 1;
  std::int64_t count = 1;
  bool first = true;  ///< the start of a sweep: the first tile of inner loops that sweep applies
  bool slid = false;  ///< only its new rows are moved
  /// Size of the tile of another instance that takes its steps at the same time and does not start
  /// a sweep: some step of it may be the larger one. 0 where there is none.
  std::int64_t beside = 0;
};
using TileCounts = std::vector<TileCount>;

void add(TileCounts& counts, const TileCount& item) {
  if (item.size <= 0 || item.count <= 0) return;
  for (TileCount& known : counts) {
    if (known.size == item.size && known.first == item.first && known.slid == item.slid &&
        known.beside == item.beside) {
      known.count = checked_add(known.count, item.count);
      return;
    }
  }
  counts.push_back(item);
}

bool has_first_tile(const NestLoop& loop, const TileCount& outer) {
  return loop.first > 0 && (outer.first || !loop.sweeps);
}

/// The tile in one step of a loop: of two instances the larger one, or both where one starts a
/// sweep.
TileCount tile_at(const TileCount& outer, const NestLoop& loop, std::int64_t step) {
  const bool has_first = has_first_tile(loop, outer);
  const std::int64_t first = has_first ? std::min(loop.first, outer.size) : 0;
  const std::int64_t before = step == 0 ? 0 : first + (step - (has_first ? 1 : 0)) * loop.tile;
  const std::int64_t wanted = step == 0 && has_first ? first : loop.tile;
  const bool starts = outer.first && (!loop.sweeps || step == 0);
  TileCount tile{std::min(wanted, outer.size - before), outer.count, starts, outer.slid};
  if (outer.beside == 0) return tile;
  const std::int64_t other = tile_at({outer.beside, outer.count, false}, loop, step).size;
  if (other > tile.size) return {other, outer.count, false, outer.slid};
  if (starts) tile.beside = std::max<std::int64_t>(other, 0);
  return tile;
}

/// The tiles in one step of a loop, given those outside.
TileCounts step_at(const TileCounts& outside, const NestLoop& loop, std::int64_t step) {
  TileCounts inside;
  for (const TileCount& outer : outside) add(inside, tile_at(outer, loop, step));
  return inside;
}

/// As step_into, where two instances take the steps of a loop at the same time.
void step_into_together(const TileCount& outer, const NestLoop& loop, LoopEffect effect,
                        TileCounts& inside) {
  TileCount tile = tile_at(outer, loop, 0);
  if (effect == LoopEffect::kOnce) {
    const std::int64_t later = tile_at(outer, loop, 1).size;
    if (later > tile.size) tile = {later, outer.count, false, outer.slid};
    if (tile.first) tile.beside = std::max(tile.beside, later);
    return add(inside, tile);
  }
  for (std::int64_t step = 1; tile.size > 0; ++step) {
    add(inside, tile);
    tile = tile_at(outer, loop, step);
  }
}

/// The tiles inside a loop, given those outside. `joins`: what the instances of a loop with the
/// effect kOnce do together counts, not the one with the largest tile alone.
TileCounts step_into(const TileCounts& outside, const NestLoop& loop, LoopEffect effect,
                     bool joins) {
  TileCounts inside;
  for (const TileCount& outer : outside) {
    if (outer.beside > 0) {
      step_into_together(outer, loop, effect, inside);
      continue;
    }
    const bool has_first = has_first_tile(loop, outer);
    const std::int64_t first = has_first ? std::min(loop.first, outer.size) : 0;
    const bool steady_first = outer.first && !loop.sweeps;
    if (effect == LoopEffect::kOnce) {
      const std::int64_t later = std::min(loop.tile, outer.size - first);
      if (later > first)
        add(inside, {later, outer.count, steady_first, outer.slid});
      else
        add(inside, {first, outer.count, outer.first, outer.slid, joins ? later : 0});
      continue;
    }
    add(inside, {first, outer.count, outer.first, outer.slid});
    std::int64_t rest = outer.size - first;
    if (effect == LoopEffect::kSlide && !has_first) {  // the first step brings its whole tile
      const std::int64_t start = std::min(loop.tile, rest);
      add(inside, {start, outer.count, steady_first, outer.slid});
      rest -= start;
    }
    const bool slid = outer.slid || effect == LoopEffect::kSlide;
    const std::int64_t whole = rest / loop.tile;
    add(inside, {loop.tile, checked_multiply(outer.count, whole), steady_first, slid});
    add(inside, {rest % loop.tile, outer.count, steady_first, slid});
  }
  return inside;
}

std::int64_t total(const TileCounts& counts) {
  std::int64_t sum = 0;
  for (const TileCount& item : counts) sum = checked_add(sum, item.count);
  return sum;
}

/// Values moved for the tile in which variable v has the size of `chosen[v]`: its volume, less what
/// it has in common with the tile before a slide. That moves the tile along each rank it indexes.
std::int64_t volume_of(const BoundAccess& access, const std::vector<const TileCount*>& chosen) {
  std::int64_t volume = 1;
  std::int64_t common = 1;
  bool slides = false;
  for (const BoundIndex& index : access.index) {
    const auto tile_of = [&](int v) { return *chosen[static_cast<std::size_t>(v)]; };
    const std::int64_t extent = extent_of(index, [&](int v) { return tile_of(v).size; });
    std::int64_t new_rows = 0;
    for (const BoundTerm& term : index.terms)
      if (tile_of(term.variable).slid)
        new_rows = std::abs(term.coefficient) * tile_of(term.variable).size;
    slides = slides || new_rows > 0;
    volume = checked_multiply(volume, extent);
    common = checked_multiply(common, std::max<std::int64_t>(0, extent - new_rows));
  }
  return slides ? volume - common : volume;
}

}  // namespace

std::int64_t visit_sum(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                       const BoundAccess& access, const std::vector<VariableRange>& sizes,
                       const std::int64_t* steps) {
  std::vector<TileCounts> counts;
  for (const VariableRange& range : sizes) counts.push_back({TileCount{range.size}});
  for (int l = 0; l < n_loops; ++l) {
    const auto v = static_cast<std::size_t>(loops[l].variable);
    const bool joins =
        loops[l].spatial && (access.index.empty() || access.relevance[v] == Relevance::kIrrelevant);
    TileCounts& mine = counts[v];
    mine = effects[l] == LoopEffect::kAt ? step_at(mine, loops[l], steps[l])
                                         : step_into(mine, loops[l], effects[l], joins);
    if (mine.empty()) return 0;  // a step that does not exist
  }
  std::int64_t irrelevant_visits = 1;
  std::vector<std::size_t> varying;
  std::vector<const TileCount*> chosen(sizes.size());
  for (std::size_t v = 0; v < sizes.size(); ++v) {
    chosen[v] = &counts[v].front();
    if (!access.index.empty() && access.relevance[v] != Relevance::kIrrelevant) {
      varying.push_back(v);
    } else {
      irrelevant_visits = checked_multiply(irrelevant_visits, total(counts[v]));
    }
  }
  std::int64_t sum = 0;
  for (;;) {  // every combination of tile sizes of the variables that index the tensor
    std::int64_t visits = irrelevant_visits;
    for (std::size_t v : varying) visits = checked_multiply(visits, chosen[v]->count);
    sum = checked_add(sum, checked_multiply(visits, volume_of(access, chosen)));
    std::size_t next = 0;
    for (; next < varying.size(); ++next) {
      const std::size_t v = varying[next];
      if (++chosen[v] < counts[v].data() + counts[v].size()) break;
      chosen[v] = counts[v].data();
    }
    if (next == varying.size()) return sum;
  }
}

}  // namespace sluice
