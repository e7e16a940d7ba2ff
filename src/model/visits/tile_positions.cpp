#include "model/visits/tile_positions.h"

#include <algorithm>

namespace sluice {

TilesAt tiles_in_loop(const TilesAt& outside, const NestLoop& loop, LoopEffect effect,
                      std::int64_t step) {
  TilesAt inside;
  for (const TileAt& outer : outside) {
    std::int64_t done = 0;
    for (std::int64_t at = 0; done < outer.size; ++at) {
      const bool starts = loop.first > 0 && (outer.first || !loop.sweeps) && done == 0;
      TileAt tile = outer;
      tile.offset = outer.offset + done;
      tile.size = std::min(starts ? loop.first : loop.tile, outer.size - done);
      tile.first = outer.first && (!loop.sweeps || done == 0);
      tile.slid = outer.slid || (effect == LoopEffect::kSlide && done > 0);
      done += tile.size;
      if (effect == LoopEffect::kAt && at != step) continue;
      if (effect != LoopEffect::kOnce || done == tile.size)
        inside.push_back(tile);
      else if (tile.size > inside.back().size)
        inside.back() = tile;
    }
  }
  return inside;
}

namespace {

bool contains(const std::vector<std::size_t>& list, std::size_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

std::vector<RankGroup> rank_groups(const BoundAccess& access) {
  std::vector<RankGroup> groups;
  for (std::size_t r = 0; r < access.index.size(); ++r) {
    RankGroup merged{{r}, {}};
    for (const BoundTerm& term : access.index[r].terms)
      merged.variables.push_back(static_cast<std::size_t>(term.variable));
    for (std::size_t g = groups.size(); g-- > 0;) {
      const bool tied = std::any_of(groups[g].variables.begin(), groups[g].variables.end(),
                                    [&](std::size_t v) { return contains(merged.variables, v); });
      if (!tied) continue;
      merged.ranks.insert(merged.ranks.end(), groups[g].ranks.begin(), groups[g].ranks.end());
      for (std::size_t v : groups[g].variables)
        if (!contains(merged.variables, v)) merged.variables.push_back(v);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    }
    groups.push_back(std::move(merged));
  }
  return groups;
}

}  // namespace sluice
