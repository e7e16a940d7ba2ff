#include "model/visits/padding.h"

#include <algorithm>
#include <cstdlib>

#include "model/bind/index_extent.h"
#include "model/visits/tile_positions.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Lengths of the parts of one rank's index range that lie inside the rank: of the tile, and of
/// what it has in common with the tile before a slide.
struct InsideLengths {
  std::int64_t tile = 0, common = 0;
  bool slides = false;
};

InsideLengths inside_lengths(const BoundIndex& index, const std::vector<const TileAt*>& chosen,
                             std::int64_t rank_size) {
  const auto tile_of = [&](int v) { return *chosen[static_cast<std::size_t>(v)]; };
  const auto [low, high] = range_of(index, tile_of);
  std::int64_t move = 0;
  for (const BoundTerm& term : index.terms)
    if (tile_of(term.variable).slid) move = term.coefficient * tile_of(term.variable).size;
  const auto inside = [&](std::int64_t from, std::int64_t to) {
    return std::max<std::int64_t>(
        0, std::min(to, rank_size - 1) - std::max<std::int64_t>(from, 0) + 1);
  };
  return {inside(low, high),
          inside(low - std::min<std::int64_t>(move, 0), high - std::max<std::int64_t>(move, 0)),
          move != 0};
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
    tiles[v] = tiles_in_loop(tiles[v], loops[l], effects[l]);
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
