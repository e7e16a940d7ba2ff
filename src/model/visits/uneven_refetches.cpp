#include "model/visits/uneven_refetches.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Where the tile of one variable begins, within what encloses it, and its size.
struct Tile {
  std::int64_t begin = 0, size = 0;
};

/// How a step changes the tile of one variable.
struct Change {
  std::int64_t size_before = 0, size = 0;
  std::int64_t shift = 0;  ///< of its beginning
  bool operator<(const Change& other) const {
    return std::tie(size_before, size, shift) <
           std::tie(other.size_before, other.size, other.shift);
  }
};
/// In how many steps, of how many instances.
using Changes = std::map<Change, std::int64_t>;

void add(Changes& changes, const Change& change, std::int64_t count) {
  std::int64_t& known = changes[change];
  known = checked_add(known, count);
}

/// The loops over one variable as one instance walks them.
class Chain {
 public:
  struct Link {
    int loop = 0;  ///< index in the nest
    std::int64_t tile = 1;
    std::optional<std::int64_t> instance;  ///< spatial: which one
  };

  Chain(std::int64_t size, std::vector<Link> links) : size_(size), links_(std::move(links)) {}

  bool is_idle() const { return !has_work(size_, 0); }
  Tile first() const { return first_in(size_, 0); }

  /// What steps of loops over other variables do, the loop with index `loop` in the nest among
  /// them: the loops inside start again.
  void add_restarts(int loop, Changes& changes) const {
    const std::size_t inner = first_link_from(loop);
    for (const auto& [extent, count] : outside(loop)) {
      const Tile before = last_in(extent, inner), now = first_in(extent, inner);
      add(changes, {before.size, now.size, now.begin - before.begin}, count);
    }
  }

  /// What the steps of its own loop with index `loop` in the nest do.
  void add_steps(int loop, Changes& changes) const {
    const std::size_t moving = first_link_from(loop);
    const std::int64_t tile = links_[moving].tile;
    for (const auto& [extent, count] : outside(loop)) {
      const std::int64_t whole = extent / tile;
      const auto step_to = [&](std::int64_t inside, std::int64_t n_steps) {
        if (n_steps <= 0) return;
        const Tile before = last_in(tile, moving + 1), now = first_in(inside, moving + 1);
        add(changes, {before.size, now.size, tile + now.begin - before.begin},
            checked_multiply(count, n_steps));
      };
      step_to(tile, whole - 1);
      if (whole > 0 && has_work(extent % tile, moving + 1)) step_to(extent % tile, 1);
    }
  }

 private:
  std::size_t first_link_from(int loop) const {
    std::size_t link = 0;
    while (link < links_.size() && links_[link].loop < loop) ++link;
    return link;
  }

  /// False where this instance has nothing to do in what links from `link` on share out.
  bool has_work(std::int64_t extent, std::size_t link) const {
    for (; link < links_.size() && extent > 0; ++link)
      extent = std::min(links_[link].tile,
                        extent - links_[link].instance.value_or(0) * links_[link].tile);
    return extent > 0;
  }

  /// The extents inside the links before `loop`, and how often each occurs.
  std::map<std::int64_t, std::int64_t> outside(int loop) const {
    std::map<std::int64_t, std::int64_t> extents = {{size_, 1}};
    for (std::size_t link = 0; link < links_.size() && links_[link].loop < loop; ++link) {
      std::map<std::int64_t, std::int64_t> inside;
      const auto enter = [&](std::int64_t extent, std::int64_t count) {
        if (count > 0 && has_work(extent, link + 1))
          inside[extent] = checked_add(inside[extent], count);
      };
      const std::int64_t tile = links_[link].tile;
      for (const auto& [extent, count] : extents) {
        if (links_[link].instance) {
          enter(std::min(tile, extent - *links_[link].instance * tile), count);
          continue;
        }
        enter(tile, checked_multiply(count, extent / tile));
        enter(extent % tile, count);
      }
      extents = std::move(inside);
    }
    return extents;
  }

  Tile first_in(std::int64_t extent, std::size_t link) const {
    return walk(extent, link, [](std::int64_t, std::int64_t, std::size_t) { return 0; });
  }

  Tile last_in(std::int64_t extent, std::size_t link) const {
    return walk(extent, link, [this](std::int64_t within, std::int64_t tile, std::size_t inner) {
      const bool has_rest = within % tile != 0 && has_work(within % tile, inner);
      return within / tile - (has_rest ? 0 : 1);
    });
  }

  template <class Step>
  Tile walk(std::int64_t extent, std::size_t link, Step step_of) const {
    Tile at{0, extent};
    for (; link < links_.size(); ++link) {
      const std::int64_t tile = links_[link].tile;
      const std::int64_t step = links_[link].instance
                                    ? *links_[link].instance
                                    : std::max<std::int64_t>(0, step_of(at.size, tile, link + 1));
      at = {at.begin + step * tile, std::min(tile, at.size - step * tile)};
    }
    return at;
  }

  std::int64_t size_;
  std::vector<Link> links_;
};

/// One chain for each instance of the spatial loops over one variable that has work at all.
std::vector<Chain> chains_of(int variable, const NestLoop* loops, const LoopEffect* effects,
                             int n_loops, std::int64_t size) {
  std::vector<Chain::Link> links;
  std::vector<std::int64_t> instances;  ///< of each link
  for (int l = 0; l < n_loops; ++l) {
    if (loops[l].variable != variable) continue;
    links.push_back({l, loops[l].tile, {}});
    if (loops[l].spatial) links.back().instance = 0;
    const bool all = loops[l].spatial && effects[l] == LoopEffect::kEvery;
    instances.push_back(all ? loops[l].trips : 1);
  }
  std::vector<Chain> chains;
  for (;;) {
    Chain chain(size, links);
    if (!chain.is_idle()) chains.push_back(std::move(chain));
    std::size_t next = 0;
    for (; next < links.size(); ++next) {
      if (instances[next] == 1) continue;
      if (++*links[next].instance < instances[next]) break;
      links[next].instance = 0;
    }
    if (next == links.size()) return chains;
  }
}

/// Values of the new tile that the node fetches.
class NewValues {
 public:
  NewValues(const BoundAccess& access, const NestLoop* loops, int n_loops) : access_(access) {
    const NestLoop* innermost = nullptr;
    for (int l = 0; l < n_loops; ++l)
      if (!loops[l].spatial && loops[l].trips > 1) innermost = &loops[l];
    if (innermost == nullptr || access.is_output) return;
    int n_moved = 0;
    for (std::size_t rank = 0; rank < access.index.size(); ++rank)
      for (const BoundTerm& term : access.index[rank].terms)
        if (term.variable == innermost->variable && term.coefficient != 0) {
          ++n_moved;
          if (term.coefficient > 0) sliding_rank_ = rank;
        }
    if (n_moved != 1) sliding_rank_.reset();
  }

  /// Per variable of the Einsum, how the step changes its tile. The first one brings all of it.
  std::int64_t operator()(const std::vector<const Change*>& changes, bool is_first) const {
    std::int64_t volume = 1, fresh = 0, extent_of_fresh = 1;
    int n_moved = 0;
    bool slides = false;
    for (std::size_t rank = 0; rank < access_.index.size(); ++rank) {
      const Move move = move_of(access_.index[rank], changes);
      volume = checked_multiply(volume, move.extent);
      if (move.shift == 0 && move.extent == move.extent_before) continue;
      ++n_moved;
      slides = move.shift > 0 && sliding_rank_ == rank;
      extent_of_fresh = move.extent;
      fresh = move.extent -
              std::max<std::int64_t>(0, std::min(move.extent_before - move.shift, move.extent));
    }
    if (is_first) return volume;
    if (n_moved == 0) return 0;
    return n_moved == 1 && slides ? volume / extent_of_fresh * fresh : volume;
  }

 private:
  struct Move {
    std::int64_t extent_before = 1, extent = 1;
    std::int64_t shift = 0;  ///< of the beginning
  };

  static Move move_of(const BoundIndex& index, const std::vector<const Change*>& changes) {
    Move move{1 + index.slack, 1 + index.slack, 0};
    for (const BoundTerm& term : index.terms) {
      const Change& change = *changes[static_cast<std::size_t>(term.variable)];
      const std::int64_t steps = std::abs(term.coefficient);
      move.extent_before += steps * (change.size_before - 1);
      move.extent += steps * (change.size - 1);
      // Backwards the tile begins where the variable's ends.
      const std::int64_t end = change.shift + change.size - change.size_before;
      move.shift += term.coefficient * (term.coefficient > 0 ? change.shift : end);
    }
    return move;
  }

  const BoundAccess& access_;
  std::optional<std::size_t> sliding_rank_;
};

/// Σ of new values over the combinations of what happens to each variable that indexes the tensor.
std::int64_t sum_over(const std::vector<Changes>& changes, const NewValues& new_values,
                      bool is_first) {
  std::vector<Changes::const_iterator> at;
  std::vector<const Change*> chosen;
  for (const Changes& of_variable : changes) {
    if (of_variable.empty()) return 0;
    at.push_back(of_variable.begin());
    chosen.push_back(&of_variable.begin()->first);
  }
  std::int64_t sum = 0;
  for (;;) {
    std::int64_t product = new_values(chosen, is_first);
    for (const auto& change : at) product = checked_multiply(product, change->second);
    sum = checked_add(sum, product);
    std::size_t next = 0;
    for (; next < at.size(); ++next) {
      const bool is_last = ++at[next] == changes[next].end();
      if (is_last) at[next] = changes[next].begin();
      chosen[next] = &at[next]->first;
      if (!is_last) break;
    }
    if (next == at.size()) return sum;
  }
}

}  // namespace

std::int64_t uneven_refetches(const BoundAccess& access, const NestLoop* loops,
                              const LoopEffect* effects, int n_loops,
                              const std::vector<VariableRange>& sizes) {
  std::vector<std::vector<Chain>> chains;
  for (std::size_t v = 0; v < sizes.size(); ++v)
    chains.push_back(chains_of(static_cast<int>(v), loops, effects, n_loops, sizes[v].size));
  const auto indexes = [&](std::size_t v) { return access.relevance[v] != Relevance::kIrrelevant; };
  const NewValues new_values(access, loops, n_loops);
  std::vector<Changes> first(sizes.size());
  for (std::size_t v = 0; v < sizes.size(); ++v)
    for (const Chain& chain : chains[v])
      add(first[v], {1, indexes(v) ? chain.first().size : 1, 0}, 1);
  std::int64_t sum = sum_over(first, new_values, true);
  for (int l = 0; l < n_loops; ++l) {
    if (loops[l].spatial || loops[l].trips == 1) continue;
    std::vector<Changes> changes(sizes.size());
    for (std::size_t v = 0; v < sizes.size(); ++v)
      for (const Chain& chain : chains[v]) {
        Changes of_chain;
        if (loops[l].variable == static_cast<int>(v))
          chain.add_steps(l, of_chain);
        else
          chain.add_restarts(l, of_chain);
        for (const auto& [change, count] : of_chain)
          add(changes[v], indexes(v) ? change : Change{1, 1, 0}, count);
      }
    sum = checked_add(sum, sum_over(changes, new_values, false));
  }
  return sum;
}

namespace {

/// Two spatial loops of one fanout that move the same index.
bool on_a_diagonal(const BoundAccess& access, const NestLoop& a, const NestLoop& b) {
  const auto moves = [](const BoundIndex& index, const NestLoop& loop) {
    return std::any_of(index.terms.begin(), index.terms.end(),
                       [&](const BoundTerm& term) { return term.variable == loop.variable; });
  };
  return a.spatial && b.spatial && a.trips > 1 && b.trips > 1 && a.component == b.component &&
         a.variable != b.variable &&
         std::any_of(access.index.begin(), access.index.end(),
                     [&](const BoundIndex& index) { return moves(index, a) && moves(index, b); });
}

/// The sizes of one variable's tiles, loop by loop.
struct Extents {
  std::set<std::int64_t> sizes;
  bool has_rest = false;  ///< a temporal loop leaves a smaller tile at its end

  /// True where a spatial loop has work for fewer instances at some times.
  bool vary_instances(const NestLoop& loop) const {
    return loop.spatial && has_rest && (*sizes.begin() + loop.tile - 1) / loop.tile < loop.trips;
  }

  void enter(const NestLoop& loop) {
    std::set<std::int64_t> inside;
    for (const std::int64_t size : sizes) {
      if (size >= loop.tile) inside.insert(loop.tile);
      if (size % loop.tile == 0) continue;
      inside.insert(size % loop.tile);
      has_rest |= !loop.spatial;
    }
    sizes = std::move(inside);
  }
};

}  // namespace

std::string why_no_uneven_refetches(const BoundAccess& access, const NestLoop* loops, int n_loops,
                                    int kept_from) {
  std::vector<Extents> extents(access.relevance.size());  // by variable
  for (int l = 0; l < n_loops; ++l) {
    const auto v = static_cast<std::size_t>(loops[l].variable);
    if (loops[l].first > 0 || loops[l].follows) return "a loop above it has a larger first tile.";
    if (extents[v].sizes.empty()) extents[v].sizes = {loops[l].enclosing};
    // Instances without work give back their sums when the others do not.
    const bool together = access.relevance[v] == Relevance::kIrrelevant || l >= kept_from;
    if (access.is_output && together && extents[v].vary_instances(loops[l]))
      return "the instances that write it back together are not the same in every step.";
    extents[v].enter(loops[l]);
    for (int other = 0; other < l && !access.is_output; ++other)
      if (on_a_diagonal(access, loops[l], loops[other]))
        return "a loop does not divide evenly, and instances on a diagonal share its tile.";
  }
  return {};
}

}  // namespace sluice
