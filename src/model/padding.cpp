#include "model/padding.h"

#include <algorithm>
#include <cstdlib>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// One visit's interval of one variable.
struct TileAt {
  std::int64_t offset = 0;
  std::int64_t size = 1;
  bool first = true;
  bool slid = false;
};
using TilesAt = std::vector<TileAt>;

TilesAt step_into(const TilesAt& outside, const NestLoop& loop, LoopEffect effect) {
  TilesAt inside;
  for (const TileAt& outer : outside) {
    std::int64_t done = 0;
    while (done < outer.size) {
      const bool starts = loop.first > 0 && (outer.first || !loop.sweeps) && done == 0;
      TileAt tile = outer;
      tile.offset = outer.offset + done;
      tile.size = std::min(starts ? loop.first : loop.tile, outer.size - done);
      tile.first = outer.first && (!loop.sweeps || done == 0);
      tile.slid = outer.slid || (effect == LoopEffect::kSlide && done > 0);
      done += tile.size;
      if (effect != LoopEffect::kOnce || done == tile.size)
        inside.push_back(tile);
      else if (tile.size > inside.back().size)
        inside.back() = tile;
    }
  }
  return inside;
}

/// Lengths of the parts of one rank's index range that lie inside the rank: of the tile, and of
/// what it has in common with the tile before a slide.
struct InsideLengths {
  std::int64_t tile = 0, common = 0;
  bool slides = false;
};

InsideLengths inside_lengths(const BoundIndex& index, const std::vector<const TileAt*>& chosen,
                             std::int64_t rank_size) {
  std::int64_t low = index.constant, high = index.constant + index.slack, move = 0;
  for (const BoundTerm& term : index.terms) {
    const TileAt& tile = *chosen[static_cast<std::size_t>(term.variable)];
    const std::int64_t a = term.coefficient * tile.offset;
    const std::int64_t b = term.coefficient * (tile.offset + tile.size - 1);
    low += std::min(a, b);
    high += std::max(a, b);
    if (tile.slid) move = term.coefficient * tile.size;
  }
  const auto inside = [&](std::int64_t from, std::int64_t to) {
    return std::max<std::int64_t>(
        0, std::min(to, rank_size - 1) - std::max<std::int64_t>(from, 0) + 1);
  };
  return {inside(low, high),
          inside(low - std::min<std::int64_t>(move, 0), high - std::max<std::int64_t>(move, 0)),
          move != 0};
}

/// Ranks that are tied together by common variables, and those variables.
struct RankGroup {
  std::vector<std::size_t> ranks, variables;
};

std::vector<RankGroup> rank_groups(const BoundAccess& access) {
  std::vector<RankGroup> groups;
  for (std::size_t r = 0; r < access.index.size(); ++r) {
    RankGroup merged{{r}, {}};
    for (const BoundTerm& term : access.index[r].terms)
      merged.variables.push_back(static_cast<std::size_t>(term.variable));
    for (std::size_t g = groups.size(); g-- > 0;) {
      const bool tied =
          std::any_of(groups[g].variables.begin(), groups[g].variables.end(), [&](std::size_t v) {
            return std::find(merged.variables.begin(), merged.variables.end(), v) !=
                   merged.variables.end();
          });
      if (!tied) continue;
      merged.ranks.insert(merged.ranks.end(), groups[g].ranks.begin(), groups[g].ranks.end());
      for (std::size_t v : groups[g].variables)
        if (std::find(merged.variables.begin(), merged.variables.end(), v) ==
            merged.variables.end()) {
          merged.variables.push_back(v);
        }
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    }
    groups.push_back(std::move(merged));
  }
  return groups;
}

/// Σ over every combination of the group's tiles of the volume inside its ranks.
std::int64_t group_sum(const RankGroup& group, const BoundAccess& access,
                       const std::vector<TilesAt>& tiles,
                       const std::vector<std::int64_t>& rank_sizes) {
  std::vector<const TileAt*> chosen(tiles.size());
  for (std::size_t v : group.variables) chosen[v] = tiles[v].data();
  std::int64_t sum = 0;
  for (;;) {
    std::int64_t whole = 1, common = 1;
    bool slides = false;
    for (std::size_t rank : group.ranks) {
      const InsideLengths lengths = inside_lengths(access.index[rank], chosen, rank_sizes[rank]);
      whole = checked_multiply(whole, lengths.tile);
      common = checked_multiply(common, lengths.common);
      slides = slides || lengths.slides;
    }
    sum = checked_add(sum, slides ? whole - common : whole);
    std::size_t next = 0;
    for (; next < group.variables.size(); ++next) {
      const std::size_t v = group.variables[next];
      if (++chosen[v] < tiles[v].data() + tiles[v].size()) break;
      chosen[v] = tiles[v].data();
    }
    if (next == group.variables.size()) return sum;
  }
}

}  // namespace

std::int64_t visit_sum_inside(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                              const BoundAccess& access, const std::vector<VariableRange>& ranges,
                              const std::vector<std::int64_t>& rank_sizes) {
  std::vector<TilesAt> tiles;
  for (const VariableRange& range : ranges) tiles.push_back({TileAt{range.minimum, range.size}});
  std::int64_t visits = 1;
  for (int l = 0; l < n_loops; ++l) {
    const auto v = static_cast<std::size_t>(loops[l].variable);
    tiles[v] = step_into(tiles[v], loops[l], effects[l]);
  }
  for (std::size_t v = 0; v < ranges.size(); ++v)
    if (access.relevance[v] == Relevance::kIrrelevant)
      visits = checked_multiply(visits, static_cast<std::int64_t>(tiles[v].size()));
  // Ranks that share no variable are independent: the sum of their product is the product of sums.
  for (const RankGroup& group : rank_groups(access))
    visits = checked_multiply(visits, group_sum(group, access, tiles, rank_sizes));
  return visits;
}

}  // namespace sluice
