#include "model/visits/first_sights.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "model/bind/index_extent.h"
#include "model/visits/index_runs.h"
#include "model/visits/padding.h"
#include "model/visits/tile_positions.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

bool is_window(const BoundAccess& access, const NestLoop& loop) {
  return access.relevance[static_cast<std::size_t>(loop.variable)] == Relevance::kPartial;
}

bool is_window_rank(const BoundAccess& access, const BoundIndex& index) {
  return std::any_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
    return access.relevance[static_cast<std::size_t>(term.variable)] == Relevance::kPartial;
  });
}

bool divides_evenly(const NestLoop& loop) {
  return loop.first == 0 && loop.trips * loop.tile == loop.enclosing;
}

/// The tiles of one variable that an instance sees. So do `count` instances, moved by a distance.
struct SeenTiles {
  TilesAt tiles;
  std::int64_t count = 1;
};

bool same_tiles(const TilesAt& a, const TilesAt& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const TileAt& x, const TileAt& y) {
    return x.size == y.size && x.offset - a.front().offset == y.offset - b.front().offset;
  });
}

class Sightings {
 public:
  Sightings(const NestLoop* loops, const LoopEffect* effects, int n_loops,
            const BoundAccess& access, const std::vector<VariableRange>& ranges,
            const std::int64_t* steps, const std::vector<std::int64_t>* rank_sizes)
      : loops_(loops),
        effects_(effects),
        n_loops_(n_loops),
        access_(access),
        ranges_(ranges),
        steps_(steps),
        rank_sizes_(rank_sizes) {}

  /// Values of the ranks that windows move, each instance on its own.
  std::int64_t of_windows() {
    std::int64_t values = 1;
    for (const RankGroup& group : rank_groups(access_)) {
      if (is_window_rank(access_, access_.index[group.ranks.front()]))
        values = checked_multiply(values, of_group(group));
    }
    return values;
  }

 private:
  /// What the instances see of one variable, instances that see the same but for a distance
  /// together.
  std::vector<SeenTiles> seen_tiles(std::size_t variable) const {
    std::vector<int> own;
    bool even = true;
    for (int l = 0; l < n_loops_; ++l) {
      if (static_cast<std::size_t>(loops_[l].variable) != variable) continue;
      own.push_back(l);
      even = even && divides_evenly(loops_[l]);
    }
    std::vector<SeenTiles> seen = {{{TileAt{ranges_[variable].minimum, ranges_[variable].size}}}};
    std::vector<std::int64_t> turns(own.size(), 0);
    if (even && !rank_sizes_) {  // where a tile lies does not matter
      for (const int l : own)
        if (effects_[l] == LoopEffect::kEvery)
          seen[0].count = checked_multiply(seen[0].count, loops_[l].trips);
      seen[0].tiles = tiles_at(variable, own, turns);
      return seen;
    }
    seen.clear();
    for (bool more = true; more; more = next_turn(own, turns)) {
      TilesAt tiles = tiles_at(variable, own, turns);
      if (tiles.empty()) continue;
      const auto known = std::find_if(seen.begin(), seen.end(), [&](const SeenTiles& other) {
        return same_tiles(other.tiles, tiles) &&
               (!rank_sizes_ || other.tiles.front().offset == tiles.front().offset);
      });
      if (known == seen.end())
        seen.push_back({std::move(tiles), 1});
      else
        ++known->count;
    }
    return seen;
  }

  bool next_turn(const std::vector<int>& own, std::vector<std::int64_t>& turns) const {
    for (std::size_t i = own.size(); i-- > 0;) {
      if (effects_[own[i]] != LoopEffect::kEvery) continue;
      if (++turns[i] < loops_[own[i]].trips) return true;
      turns[i] = 0;
    }
    return false;
  }

  /// The tiles that the instance with these turns of the loops with the effect kEvery sees.
  TilesAt tiles_at(std::size_t variable, const std::vector<int>& own,
                   const std::vector<std::int64_t>& turns) const {
    TilesAt tiles = {TileAt{ranges_[variable].minimum, ranges_[variable].size}};
    for (std::size_t i = 0; i < own.size(); ++i) {
      const LoopEffect effect = effects_[own[i]];
      if (effect == LoopEffect::kEvery)
        tiles = tiles_in_loop(tiles, loops_[own[i]], LoopEffect::kAt, turns[i]);
      else
        tiles = tiles_in_loop(tiles, loops_[own[i]], effect, steps_ ? steps_[own[i]] : 0);
    }
    return tiles;
  }

  std::int64_t of_group(const RankGroup& group) {
    std::vector<std::vector<SeenTiles>> seen;
    for (std::size_t v : group.variables) {
      seen.push_back(seen_tiles(v));
      if (seen.back().empty()) return 0;
    }
    tiles_.assign(ranges_.size(), {});
    std::vector<std::size_t> chosen(group.variables.size(), 0);
    std::int64_t values = 0;
    for (;;) {
      std::int64_t count = 1;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        count = checked_multiply(count, seen[i][chosen[i]].count);
        tiles_[group.variables[i]] = seen[i][chosen[i]].tiles;
      }
      values = checked_add(values, checked_multiply(count, united(group)));
      std::size_t next = 0;
      for (; next < chosen.size(); ++next) {
        if (++chosen[next] < seen[next].size()) break;
        chosen[next] = 0;
      }
      if (next == chosen.size()) return values;
    }
  }

  /// Values of a group's ranks in which the boxes of all tiles meet: of one rank the sums of what
  /// each variable contributes; of several tied ones, one box after another for the variables that
  /// tie them.
  std::int64_t united(const RankGroup& group) const {
    if (group.ranks.size() == 1) return size_of(sums(group.ranks[0], {}));
    std::vector<std::size_t> ties;
    for (std::size_t v : group.variables)
      if (ranks_with(group, v) > 1) ties.push_back(v);
    std::vector<RunBox> boxes;
    std::vector<std::size_t> at(ties.size(), 0);
    for (;;) {
      std::vector<std::pair<std::size_t, TileAt>> fixed;
      for (std::size_t i = 0; i < ties.size(); ++i)
        fixed.emplace_back(ties[i], tiles_[ties[i]][at[i]]);
      std::vector<RunBox> found = {{}};
      for (std::size_t rank : group.ranks) {
        std::vector<RunBox> longer;
        for (const IndexRun& run : sums(rank, fixed))
          for (const RunBox& box : found) longer.emplace_back(box).push_back(run);
        found = std::move(longer);
      }
      boxes.insert(boxes.end(), found.begin(), found.end());
      std::size_t next = 0;
      for (; next < ties.size(); ++next) {
        if (++at[next] < tiles_[ties[next]].size()) break;
        at[next] = 0;
      }
      if (next == ties.size()) return united_volume(boxes);
    }
  }

  std::size_t ranks_with(const RankGroup& group, std::size_t variable) const {
    return static_cast<std::size_t>(
        std::count_if(group.ranks.begin(), group.ranks.end(), [&](std::size_t rank) {
          const auto& terms = access_.index[rank].terms;
          return std::any_of(terms.begin(), terms.end(), [&](const BoundTerm& term) {
            return static_cast<std::size_t>(term.variable) == variable;
          });
        }));
  }

  /// Values that the index of a rank takes in all tiles of its variables, or in the one that is
  /// fixed.
  IndexRuns sums(std::size_t rank, const std::vector<std::pair<std::size_t, TileAt>>& fixed) const {
    const BoundIndex& index = access_.index[rank];
    std::vector<IndexRuns> parts = {{{index.constant, index.constant + 1 + index.slack}}};
    for (const BoundTerm& term : index.terms) {
      const auto v = static_cast<std::size_t>(term.variable);
      const auto tie =
          std::find_if(fixed.begin(), fixed.end(), [&](const auto& f) { return f.first == v; });
      const TilesAt& tiles = tie == fixed.end() ? tiles_[v] : TilesAt{tie->second};
      IndexRuns runs;
      for (const TileAt& tile : tiles) {
        const auto [low, high] = range_of(term, tile);
        runs.push_back({low, high + 1});
      }
      parts.push_back(joined(std::move(runs)));
    }
    std::sort(parts.begin(), parts.end(),
              [](const IndexRuns& a, const IndexRuns& b) { return a.size() < b.size(); });
    IndexRuns result = std::move(parts.front());
    for (std::size_t p = 1; p < parts.size(); ++p) result = sums_of(result, parts[p]);
    return rank_sizes_ ? within(std::move(result), (*rank_sizes_)[rank]) : result;
  }

  const NestLoop* loops_;
  const LoopEffect* effects_;
  const int n_loops_;
  const BoundAccess& access_;
  const std::vector<VariableRange>& ranges_;
  const std::int64_t* steps_;
  const std::vector<std::int64_t>* rank_sizes_;  ///< null: values outside a rank count like others
  std::vector<TilesAt> tiles_;  ///< per variable of a group: those of the chosen instance
};

}  // namespace

bool moves_windows(const BoundAccess& access, const NestLoop* loops, int n_loops) {
  for (int l = 0; l < n_loops; ++l)
    if (loops[l].trips > 1 && is_window(access, loops[l])) return true;
  return false;
}

namespace {

/// Loops that no window sees, and how they count.
struct OtherLoops {
  std::vector<NestLoop> loops;
  std::vector<LoopEffect> effects;
  std::vector<std::int64_t> steps;

  OtherLoops(const NestLoop* all, const LoopEffect* how, int n_loops, const BoundAccess& access,
             const std::int64_t* at) {
    for (int l = 0; l < n_loops; ++l) {
      if (is_window(access, all[l])) continue;
      loops.push_back(all[l]);
      effects.push_back(how[l]);
      steps.push_back(at ? at[l] : 0);
    }
  }
  std::int64_t sum(const BoundAccess& access, const std::vector<VariableRange>& ranges) const {
    return visit_sum(loops.data(), effects.data(), static_cast<int>(loops.size()), access, ranges,
                     steps.data());
  }
};

/// The ranks that no window moves.
BoundAccess without_windows(const BoundAccess& access) {
  BoundAccess rest;
  rest.tensor = access.tensor;
  rest.relevance = access.relevance;
  for (const BoundIndex& index : access.index)
    if (!is_window_rank(access, index)) rest.index.push_back(index);
  for (Relevance& seen : rest.relevance)
    if (seen == Relevance::kPartial) seen = Relevance::kIrrelevant;
  return rest;
}

}  // namespace

std::int64_t first_sights(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                          const BoundAccess& access, const std::vector<VariableRange>& ranges,
                          const std::int64_t* steps) {
  const std::int64_t rest =
      OtherLoops(loops, effects, n_loops, access, steps).sum(without_windows(access), ranges);
  return checked_multiply(
      rest, Sightings(loops, effects, n_loops, access, ranges, steps, nullptr).of_windows());
}

std::int64_t first_sights_inside(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                                 const BoundAccess& access,
                                 const std::vector<VariableRange>& ranges,
                                 const std::vector<std::int64_t>& rank_sizes) {
  const OtherLoops others(loops, effects, n_loops, access, nullptr);
  std::vector<std::int64_t> other_sizes;
  for (std::size_t r = 0; r < rank_sizes.size(); ++r)
    if (!is_window_rank(access, access.index[r])) other_sizes.push_back(rank_sizes[r]);
  const std::int64_t rest = visit_sum_inside(others.loops.data(), others.effects.data(),
                                             static_cast<int>(others.loops.size()),
                                             without_windows(access), ranges, other_sizes);
  return checked_multiply(
      rest, Sightings(loops, effects, n_loops, access, ranges, nullptr, &rank_sizes).of_windows());
}

namespace {

/// Walks the tiles of one instance in order, and notes what it has seen.
class NewTiles {
 public:
  NewTiles(const NestLoop* loops, const LoopEffect* effects, int n_loops, const BoundAccess& access,
           const std::vector<VariableRange>& ranges)
      : loops_(loops), effects_(effects), n_loops_(n_loops) {
    for (const VariableRange& range : ranges) tiles_.push_back({range.minimum, range.size});
    for (const BoundIndex& index : access.index)
      if (is_window_rank(access, index)) ranks_.push_back(&index);
    for (int l = 0; l < n_loops; ++l) is_window_.push_back(is_window(access, loops[l]));
    whole_ = box();
    std::int64_t cells = 1;
    for (const IndexRun& run : whole_) cells = checked_multiply(cells, run.end - run.begin);
    seen_.assign(static_cast<std::size_t>(cells), false);
  }

  std::int64_t count() {
    walk(0);
    return count_;
  }

 private:
  void walk(int l) {
    while (l < n_loops_ && !is_window_[static_cast<std::size_t>(l)]) ++l;
    if (l == n_loops_) return visit();
    TileAt& tile = tiles_[static_cast<std::size_t>(loops_[l].variable)];
    const TileAt outer = tile;
    for (const TileAt& inner : tiles_in_loop({outer}, loops_[l], effects_[l])) {
      tile = inner;
      walk(l + 1);
    }
    tile = outer;
  }

  RunBox box() const {
    RunBox result;
    for (const BoundIndex* index : ranks_) {
      const auto [low, high] =
          range_of(*index, [&](int v) { return tiles_[static_cast<std::size_t>(v)]; });
      result.push_back({low - index->constant, high - index->constant + 1});
    }
    return result;
  }

  void visit() {
    bool is_new = true;
    note(box(), 0, 0, is_new);
    count_ += is_new ? 1 : 0;
  }

  void note(const RunBox& box, std::size_t rank, std::int64_t cell, bool& is_new) {
    if (rank == box.size()) {
      std::vector<bool>::reference seen = seen_[static_cast<std::size_t>(cell)];
      is_new = is_new && !seen;
      seen = true;
      return;
    }
    const std::int64_t length = whole_[rank].end - whole_[rank].begin;
    for (std::int64_t i = box[rank].begin; i < box[rank].end; ++i)
      note(box, rank + 1, cell * length + i - whole_[rank].begin, is_new);
  }

  const NestLoop* loops_;
  const LoopEffect* effects_;
  const int n_loops_;
  std::vector<const BoundIndex*> ranks_;
  std::vector<char> is_window_;  ///< per loop
  TilesAt tiles_;                ///< per variable: where the walk is
  RunBox whole_;
  std::vector<bool> seen_;  ///< per value of the ranks
  std::int64_t count_ = 0;
};

}  // namespace

std::int64_t visits_of_new_tiles(const NestLoop* loops, const LoopEffect* effects, int n_loops,
                                 const BoundAccess& access,
                                 const std::vector<VariableRange>& ranges) {
  const std::int64_t others =
      OtherLoops(loops, effects, n_loops, access, nullptr).sum(BoundAccess{}, ranges);
  return checked_multiply(others, NewTiles(loops, effects, n_loops, access, ranges).count());
}

double work_for_new_tiles(const BoundAccess& access, const std::vector<VariableRange>& ranges) {
  double work = 1;
  for (std::size_t v = 0; v < ranges.size(); ++v)
    if (access.relevance[v] == Relevance::kPartial) work *= static_cast<double>(ranges[v].size);
  for (const BoundIndex& index : access.index) {
    if (!is_window_rank(access, index)) continue;
    double width = 0;
    for (const BoundTerm& term : index.terms)
      width += static_cast<double>(std::abs(term.coefficient));
    work *= std::max(1.0, width);
  }
  return work;
}

}  // namespace sluice
