#include <fmt/format.h>

#include <algorithm>

#include "frontend/import/timeloop/timeloop_names.h"
#include "sluice/support/checked.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

/// One loop of the nest, outermost first.
struct Loop {
  int dimension = 0;
  std::int64_t bound = 1;
  std::int64_t tile = 1;          ///< of the dimension, inside the loop
  const Level* fanout = nullptr;  ///< spatial: where
  const char* axis = "X";
  const Directive* directive = nullptr;
};

class MappingWriter {
 public:
  MappingWriter(ImportContext& context, Specs& specs, PlacedText& places)
      : context_(context),
        specs_(specs),
        problem_(*specs.problem),
        names_(problem_),
        places_(places) {}

  std::string write() {
    for (const Level& level : specs_.levels) loops_.push_back(loops_of(level));
    specs_.linked.clear();
    for (std::size_t d = 0; d < problem_.dimensions.size(); ++d) set_tiles(static_cast<int>(d));
    specs_.is_perfect = is_perfect_;
    std::string text = "mapping:\n  nodes:\n";
    std::set<std::string> held;
    for (std::size_t l = 0; l < specs_.levels.size(); ++l) {
      Level& level = specs_.levels[l];
      level.is_bypassed = is_bypassed(level);
      level.n_used = 1;
      for (const Loop& loop : loops_[l])
        if (loop.fanout != nullptr || level.kind != Level::Kind::kFanout)
          level.n_used = checked_multiply(*level.n_used, std::max<std::int64_t>(1, loop.bound));
      level.is_spread = *level.n_used > 1;
    }
    for (std::size_t l = 0; l < specs_.levels.size(); ++l) {
      const Level& level = specs_.levels[l];
      if (level.kind == Level::Kind::kStorage) text += storages(level, held);
      for (const Loop& loop : loops_[l])
        if (loop.bound > 1 && is_used(loop.dimension)) text += loop_text(loop);
      if (level.kind == Level::Kind::kCompute) text += links();
      if (level.kind == Level::Kind::kCompute)
        text += fmt::format("  - !Compute {{einsum: {}, component: {}}}\n", output_name(),
                            sluice_name(level.name));
    }
    note_unused();
    return text;
  }

 private:
  /// Directives that fit no level: loops of a fanout over time, what a fanout keeps.
  void note_unused() {
    for (const Directive& directive : specs_.mapping)
      if (used_.count(&directive) == 0)
        context_.note(*directive.node,
                      fmt::format("this directive is left out: nothing at {} takes one of its type",
                                  directive.target));
  }

  const Directive* directive(Directive::Kind kind, const std::vector<std::string>& targets) {
    const Directive* found = nullptr;
    for (const Directive& directive : specs_.mapping) {
      if (directive.kind != kind ||
          std::find(targets.begin(), targets.end(), directive.target) == targets.end())
        continue;
      if (found != nullptr && !directive.says_the_same(*found))
        context_.read.error(*directive.node,
                            fmt::format("a second directive of this type for {} says something "
                                        "else than the first",
                                        directive.target),
                            "make one of them");
      found = &directive;
      used_.insert(&directive);
    }
    return found;
  }

  /// Permutations are written innermost first; dimensions that are left out stand outside.
  std::vector<int> innermost_first(const Directive& directive) const {
    std::vector<int> order = directive.permutation;
    for (std::size_t d = 0; d < problem_.dimensions.size(); ++d)
      if (std::find(order.begin(), order.end(), static_cast<int>(d)) == order.end())
        order.push_back(static_cast<int>(d));
    return order;
  }

  std::vector<Loop> loops_of(const Level& level) {
    const bool spatial = level.kind == Level::Kind::kFanout;
    if (level.kind == Level::Kind::kCompute) return {};
    if (!spatial) check_fanout_below(level);
    std::vector<Loop> loops;
    if (spatial) {  // as a level that keeps nothing, it may have loops over time
      const std::vector<std::string> own = targets_of_its_own(level);
      directive(Directive::Kind::kBypass, own);
      add_loops(level, directive(Directive::Kind::kTemporal, own), false, loops);
      add_loops(level, directive(Directive::Kind::kSpatial, level.spatial_targets), true, loops);
    } else {
      add_loops(level, directive(Directive::Kind::kTemporal, {level.name}), false, loops);
    }
    return loops;
  }

  /// What directives call a fanout, without the storage above it.
  std::vector<std::string> targets_of_its_own(const Level& fanout) const {
    std::vector<std::string> own;
    for (const std::string& target : fanout.spatial_targets)
      if (std::none_of(specs_.levels.begin(), specs_.levels.end(), [&](const Level& level) {
            return level.kind == Level::Kind::kStorage && level.name == target;
          }))
        own.push_back(target);
    return own;
  }

  void add_loops(const Level& level, const Directive* found, bool spatial,
                 std::vector<Loop>& loops) {
    if (found == nullptr) return;
    const std::vector<int> order = innermost_first(*found);
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto factor = found->factors.find(order[i]);
      Loop loop{order[i], 1, 1, spatial ? &level : nullptr, "X", found};
      if (factor != found->factors.end()) loop.bound = factor->second.bound;
      if (spatial) loop.axis = axis(level, *found, i);
      loops.push_back(loop);
    }
    if (level.kind == Level::Kind::kStorage && !found->factors.empty()) note_bounds(*found);
  }

  void note_bounds(const Directive& directive) {
    for (const auto& [dimension, factor] : directive.factors)
      if (factor.at_most || factor.at_least)
        context_.read.error(*directive.node,
                            fmt::format("the factor of {} is a bound, which a mapping cannot have",
                                        problem_.dimensions[static_cast<std::size_t>(dimension)]),
                            "write it with =");
  }

  /// The first `split` dimensions of the permutation run along X.
  static const char* axis(const Level& level, const Directive& directive, std::size_t place) {
    if (level.fanout_x == 1 && level.fanout_y > 1 && !directive.split) return "Y";
    const auto split = static_cast<std::size_t>(directive.split.value_or(1 << 20));
    return place < split ? "X" : "Y";
  }

  /// Spatial loops of a storage need a fanout between it and the next storage or compute.
  void check_fanout_below(const Level& level) {
    const Directive* spatial = directive(Directive::Kind::kSpatial, {level.name});
    if (spatial == nullptr) return;
    for (const Level& other : specs_.levels)
      if (other.kind == Level::Kind::kFanout &&
          std::find(other.spatial_targets.begin(), other.spatial_targets.end(), level.name) !=
              other.spatial_targets.end())
        return;
    for (const auto& [dimension, factor] : spatial->factors)
      if (factor.bound != 1) {
        context_.read.error(*spatial->node,
                            fmt::format("there is one instance of what follows {}: no spatial loop "
                                        "has room there",
                                        level.name));
        return;
      }
  }

  /// Fills in factors of 0, and the tile inside each loop, from the innermost loop outwards.
  void set_tiles(int dimension) {
    const auto d = static_cast<std::size_t>(dimension);
    std::vector<Loop*> nest;
    Loop* rest = nullptr;
    std::int64_t product = 1;
    bool has_last = false;
    for (std::vector<Loop>& level : loops_)
      for (Loop& loop : level) {
        if (loop.dimension != dimension) continue;
        nest.push_back(&loop);
        const auto factor = loop.directive->factors.find(dimension);
        has_last |= factor != loop.directive->factors.end() && factor->second.last;
        if (loop.bound != 0) {
          product = checked_multiply(product, loop.bound);
        } else if (rest != nullptr) {
          context_.read.error(*loop.directive->node,
                              fmt::format("{} has a second factor of 0: only one can take the rest",
                                          problem_.dimensions[d]));
          loop.bound = 1;
        } else {
          rest = &loop;
        }
      }
    if (rest != nullptr) {
      rest->bound = (problem_.sizes[d] + product - 1) / product;
      product = checked_multiply(product, rest->bound);
    }
    std::int64_t tile = 1;
    for (auto loop = nest.rbegin(); loop != nest.rend(); ++loop) {
      (*loop)->tile = std::min(tile, problem_.sizes[d]);
      tile = checked_multiply(tile, (*loop)->bound);
    }
    if (product == problem_.sizes[d]) return;
    is_perfect_ = false;
    if (product > problem_.sizes[d] && has_last) return;
    const YamlNode& node = nest.empty() ? *problem_.node : *nest.front()->directive->node;
    context_.read.error(
        node,
        fmt::format("the factors of {} multiply to {}, but the problem has {} = {}",
                    problem_.dimensions[d], product, problem_.dimensions[d], problem_.sizes[d]),
        "a factor of 0 takes the rest");
  }

  bool is_bypassed(const Level& level) {
    const Directive* bypass = level.kind == Level::Kind::kStorage
                                  ? directive(Directive::Kind::kBypass, {level.name})
                                  : nullptr;
    return bypass != nullptr && !bypass->bypass.empty();
  }

  /// Of the loops over time above a storage: the innermost that moves a data space, where loops
  /// further in do not; null where none does.
  const Loop* mover_with_loops_inside(const Level& level, const DataSpace& space) const {
    const Loop* mover = nullptr;
    bool has_loops_inside = false;
    for (std::size_t l = 0; &specs_.levels[l] != &level; ++l)
      for (const Loop& loop : loops_[l]) {
        if (loop.fanout != nullptr || loop.bound <= 1) continue;
        const bool moves = rank_of(space, loop.dimension) != nullptr;
        if (moves) mover = &loop;
        has_loops_inside = !moves && mover != nullptr;
      }
    return has_loops_inside ? mover : nullptr;
  }

  static const std::vector<Term>* rank_of(const DataSpace& space, int dimension) {
    for (const std::vector<Term>& rank : space.ranks)
      for (const Term& term : rank)
        if (term.dimension == dimension && term.coefficient != 0) return &rank;
    return nullptr;
  }

  /// Values of a dimension in a tile of the storage.
  std::int64_t tile_in(const Level& level, int dimension) const {
    std::int64_t tile = problem_.sizes[static_cast<std::size_t>(dimension)];
    for (std::size_t l = 0; &specs_.levels[l] != &level; ++l)
      for (const Loop& loop : loops_[l])
        if (loop.dimension == dimension) tile = loop.tile;
    return tile;
  }

  /// See docs/differences-timeloop.md.
  void note_slide(const Level& level, const DataSpace& space) {
    const Loop* mover = mover_with_loops_inside(level, space);
    if (mover == nullptr) return;
    const std::vector<Term>& rank = *rank_of(space, mover->dimension);
    const bool overlaps = std::any_of(rank.begin(), rank.end(), [&](const Term& term) {
      return term.dimension != mover->dimension && tile_in(level, term.dimension) > 1;
    });
    if (overlaps)
      context_.note(*mover->directive->node,
                    fmt::format("the window of {} in {} slides along {}, with loops further in "
                                "that do not move it: it is fetched whole at each step, where "
                                "Timeloop fetches what is new",
                                space.name, level.name,
                                problem_.dimensions[static_cast<std::size_t>(mover->dimension)]));
  }

  /// Data spaces that a storage keeps; the outermost one keeps all.
  std::string storages(const Level& level, std::set<std::string>& held) {
    const Directive* bypass = directive(Directive::Kind::kBypass, {level.name});
    const Directive* temporal = directive(Directive::Kind::kTemporal, {level.name});
    std::vector<std::string> backing, kept, refetched;
    for (const DataSpace& space : problem_.data_spaces) {
      const auto listed = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), space.name) != names.end();
      };
      const bool outermost = held.count(space.name) == 0;
      if (bypass != nullptr && listed(bypass->bypass)) {
        if (!outermost || &level != &first_storage()) continue;
        context_.note(*bypass->node, fmt::format("{} is the outermost storage and keeps {} all the "
                                                 "same",
                                                 level.name, space.name));
      }
      held.insert(space.name);
      const bool is_unpriced =
          specs_.refetched.count({sluice_name(level.name), sluice_name(space.name)}) > 0;
      if (space.is_output && is_unpriced) written_back_.insert(space.name);
      if (outermost)
        backing.push_back(sluice_name(space.name));
      else if ((temporal != nullptr && listed(temporal->no_reuse)) || is_unpriced ||
               written_back_.count(space.name))
        refetched.push_back(sluice_name(space.name));
      else {
        kept.push_back(sluice_name(space.name));
        if (!space.is_output) note_slide(level, space);
      }
    }
    // Below a level that writes its sums back at the end of each visit none can keep them longer.
    for (const DataSpace& space : problem_.data_spaces)
      if (space.is_output && temporal != nullptr && held.count(space.name) > 0 &&
          std::find(temporal->no_reuse.begin(), temporal->no_reuse.end(), space.name) !=
              temporal->no_reuse.end())
        written_back_.insert(space.name);
    const std::string component = sluice_name(level.name);
    const auto node = [&](const std::vector<std::string>& tensors, bool incremental) {
      if (tensors.empty()) return std::string();
      const Directive* place = bypass != nullptr ? bypass : temporal;
      return fmt::format("{}  - !Storage {{tensors: {}, component: {}{}}}\n",
                         place == nullptr ? "" : places_.mark(place->node->position),
                         yaml_list(tensors), component, incremental ? ", incremental: true" : "");
    };
    return node(backing, false) + node(kept, true) + node(refetched, false);
  }

  /// Timeloop lets a compute without storage of its own take from a neighbour what that one had in
  /// the step before. Where the innermost loop does not move a data space and neighbours share it,
  /// it is as if each kept its value.
  std::string links() {
    const std::size_t n = specs_.levels.size();
    if (n < 2 || specs_.levels[n - 2].kind != Level::Kind::kFanout) return {};
    const Loop* innermost = nullptr;
    for (std::size_t l = 0; l + 1 < n; ++l)
      for (const Loop& loop : loops_[l])
        if (loop.bound > 1 && loop.fanout == nullptr) innermost = &loop;
    if (innermost == nullptr) return {};
    std::vector<std::string> tensors;
    for (const DataSpace& space : problem_.data_spaces) {
      const Loop* along[2] = {nullptr, nullptr};
      bool forbidden = false;
      for (const Loop& loop : loops_[n - 2]) {
        const std::vector<std::string>& no_links = loop.directive->no_links;
        forbidden |= std::find(no_links.begin(), no_links.end(), space.name) != no_links.end();
        if (loop.bound > 1 && loop.fanout != nullptr) along[*loop.axis == 'Y'] = &loop;
      }
      const auto shared = [&](const Loop* loop) {
        return loop != nullptr && !indexes(space, loop->dimension);
      };
      if (forbidden || indexes(space, innermost->dimension)) continue;
      if (!shared(along[0]) && !shared(along[1])) continue;
      tensors.push_back(sluice_name(space.name));
      if (is_perfect_) specs_.linked.push_back(space.name);
    }
    if (tensors.empty()) return {};
    if (!is_perfect_) {
      context_.note(*specs_.levels[n - 1].node,
                    fmt::format("{} is fetched for each instance; Timeloop passes it between "
                                "neighbours where the innermost loop does not move it",
                                fmt::join(tensors, ", ")));
      return {};
    }
    const std::string component = links_name(specs_.levels[n - 2]);
    context_.note(*specs_.levels[n - 1].node,
                  fmt::format("{} passes between neighbours where the innermost loop does not move "
                              "it: held in {}, at no energy",
                              fmt::join(tensors, ", "), component));
    return fmt::format("  - !Storage {{tensors: {}, component: {}, incremental: true}}\n",
                       yaml_list(tensors), component);
  }

  /// A dimension that indexes nothing is no variable of the Einsum.
  bool is_used(int dimension) const {
    return std::any_of(problem_.data_spaces.begin(), problem_.data_spaces.end(),
                       [&](const DataSpace& space) { return indexes(space, dimension); });
  }

  static bool indexes(const DataSpace& space, int dimension) {
    for (const std::vector<Term>& rank : space.ranks)
      for (const Term& term : rank)
        if (term.dimension == dimension) return true;
    return false;
  }

  const Level& first_storage() const {
    return *std::find_if(specs_.levels.begin(), specs_.levels.end(),
                         [](const Level& level) { return level.kind == Level::Kind::kStorage; });
  }

  std::string loop_text(const Loop& loop) const {
    const std::string& variable = names_.variables[static_cast<std::size_t>(loop.dimension)];
    const std::string mark = places_.mark(loop.directive->node->position);
    if (loop.fanout == nullptr)
      return mark + fmt::format("  - !Temporal {{rank_variable: {}, tile_shape: {}}}\n", variable,
                                loop.tile);
    return mark +
           fmt::format(
               "  - !Spatial {{rank_variable: {}, tile_shape: {}, component: {}, name: {}}}\n",
               variable, loop.tile, sluice_name(loop.fanout->name), loop.axis);
  }

  std::string output_name() const {
    for (const DataSpace& space : problem_.data_spaces)
      if (space.is_output) return sluice_name(space.name);
    return {};
  }

  ImportContext& context_;
  Specs& specs_;
  const Problem& problem_;
  Names names_;
  PlacedText& places_;
  std::vector<std::vector<Loop>> loops_;  ///< by level
  bool is_perfect_ = true;
  std::set<const Directive*> used_;
  std::set<std::string> written_back_;  ///< outputs that a level further out does not keep
};

}  // namespace

std::string links_name(const Level& fanout) { return sluice_name(fanout.name) + "_links"; }

std::string mapping_text(ImportContext& context, Specs& specs, PlacedText& places) {
  places = {};
  return places.finish(MappingWriter(context, specs, places).write());
}

}  // namespace sluice::timeloop
