#include "tile_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "pareto.h"
#include "sluice/support/error.h"
#include "state_lists.h"

namespace sluice::fused {
namespace {

std::vector<ClassStates> enumerate_all(const TileSearchContext& context,
                                       const std::vector<VariableClass>& classes) {
  std::vector<ClassStates> states;
  for (const VariableClass& cls : classes) {
    ClassLimits limits{context.options->max_fused_loops, context.options->max_fused_loops_per_rank,
                       std::vector<std::int64_t>(cls.loops.size(), 0)};
    for (std::size_t l = 0; l < cls.loops.size(); ++l)
      if (cls.loops[l].spatial)
        limits.fanout[l] =
            context.problem->arch[cls.loops[l].component].spatial[cls.loops[l].dimension].fanout;
    states.push_back(enumerate_states(*context.shape, cls, limits));
  }
  return states;
}

std::vector<VariableClass> classes_of(const TileSearchContext& context, const Template& templ) {
  return make_classes(*context.shape, templ, context.constraints->tiles.empty());
}

/// One choice of state lists, one per class: everything in it has the same fused loops and the same
/// use of the fanouts that demand some.
using ListChoice = std::vector<std::uint32_t>;

class TemplateSearch {
 public:
  TemplateSearch(const TileSearchContext& context, const Template& templ,
                 const CompiledTemplate& compiled, std::uint32_t index)
      : context_(context),
        shape_(*context.shape),
        templ_(templ),
        template_index_(index),
        classes_(compiled.classes),
        states_(compiled.states),
        program_(compiled.program) {
    result_.considered = compiled.considered;
  }

  TemplateResult run() {
    if (result_.considered == 0) return std::move(result_);
    if (!program_.feasible) {
      result_.miss = {true, program_.infeasible_component, program_.smallest_excess, 0};
      return std::move(result_);
    }
    if (context_.bound.hopeless(program_.least_energy, program_.least_latency))
      return std::move(result_);
    const ExchangeSpace& space = *context_.space;
    lists_ = std::make_unique<StateLists>(context_, templ_, classes_, states_, program_,
                                          space.skeletons[space.skeleton_of[template_index_]]);
    if (lists_->choices().empty()) return std::move(result_);
    select_by_usage();
    ListChoice choice(classes_.size(), 0);
    emit_all(0, 0, lists_->choices().size(), Usage(lists_->wanted_usage().size(), 1), &choice);
    return std::move(result_);
  }

 private:
  // ---- use of fanouts ----------------------------------------------------------------------
  using Usage = std::vector<std::int64_t>;

  /// The soft `min_usage` filter: of the uses of the demanding fanouts that have a fitting tile
  /// shape, those that reach it everywhere; if there is none, dimension by dimension those that use
  /// most.
  void select_by_usage() {
    find_possible_usages();
    const std::vector<double>& wanted = lists_->wanted_usage();
    if (wanted.empty()) {
      allowed_.insert(Usage{});
      return;
    }
    const auto reaches = [&](const Usage& usage) {
      for (std::size_t d = 0; d < wanted.size(); ++d)
        if (static_cast<double>(usage[d]) < wanted[d]) return false;
      return true;
    };
    for (const bool full : {true, false}) {
      for (const Usage& usage : possible_.front())
        if (reaches(usage) == full && fits(usage)) allowed_.insert(usage);
      if (full && !allowed_.empty()) return;
    }
    for (std::size_t d = 0; d < wanted.size() && !allowed_.empty(); ++d) {
      std::int64_t most = 0;
      for (const Usage& usage : allowed_) most = std::max(most, usage[d]);
      const double threshold = std::min(wanted[d], static_cast<double>(most));
      std::erase_if(allowed_,
                    [&](const Usage& usage) { return static_cast<double>(usage[d]) < threshold; });
    }
  }

  /// Uses that the classes from some depth on can make of the demanding fanouts, per depth.
  void find_possible_usages() {
    possible_.assign(classes_.size() + 1, {});
    possible_.back() = {Usage(lists_->wanted_usage().size(), 1)};
    for (std::size_t depth = classes_.size(); depth-- > 0;) {
      std::set<Usage> own;
      for (const StateList& list : lists_->lists(order(depth))) own.insert(list.usage);
      for (const Usage& rest : possible_[depth + 1])
        for (const Usage& mine : own)
          if (const auto both = lists_->combine_usage(rest, mine)) possible_[depth].insert(*both);
    }
  }

  /// Whether the classes from `depth` on can turn `used` into `target`.
  bool reachable(const Usage& used, const Usage& target, std::size_t depth) const {
    Usage rest(target);
    for (std::size_t d = 0; d < rest.size(); ++d) {
      if (rest[d] % used[d] != 0) return false;
      rest[d] /= used[d];
    }
    return possible_[depth].count(rest) > 0;
  }

  /// Whether some tile shape with this use of the fanouts meets all limits.
  bool fits(const Usage& target) {
    tried_.clear();
    return fits(target, Usage(target.size(), 1), 0, 0, lists_->stage(0).initial);
  }

  bool fits(const Usage& target, const Usage& used, std::size_t depth, int fused_loops,
            const std::vector<double>& point) {
    if (depth == classes_.size()) return used == target;
    // Nothing but the partial sums, the use and the fused loops left decides what is below.
    std::vector<double> key{point};
    key.insert(key.end(), used.begin(), used.end());
    key.push_back(fused_loops);
    if (!tried_.insert({depth, std::move(key)}).second) return false;
    std::vector<double> extended(lists_->stage(depth + 1).width);
    const std::size_t cls = order(depth);
    for (const auto& [usage, lists] : lists_->usage_groups(cls)) {
      const auto both = lists_->combine_usage(used, usage);
      if (!both || !reachable(*both, target, depth + 1)) continue;
      // Small tiles first: many fused loops leave the least to hold.
      for (auto l = lists.rbegin(); l != lists.rend(); ++l) {
        const StateList& list = lists_->lists(cls)[*l];
        const int fused = fused_loops + list.fused_loops;
        if (fused > context_.options->max_fused_loops) continue;
        for (std::uint32_t state : lists_->roomy(cls, *l))
          if (lists_->extend(depth + 1, point.data(), state, false, extended.data(), nullptr) &&
              fits(target, *both, depth + 1, fused, extended))
            return true;
      }
    }
    return false;
  }

  /// Every choice of lists for the fused choices [first, last), which agree on the classes before
  /// `depth`, whose use of the fanouts is allowed; whole branches end where no partial assignment
  /// is left.
  void emit_all(std::size_t depth, std::size_t first, std::size_t last, const Usage& used,
                ListChoice* choice) {
    const std::vector<FusedChoice>& choices = lists_->choices();
    if (depth == classes_.size()) {
      if (allowed_.count(used) == 0) return;
      for (std::size_t i = first; i < last; ++i) emit(choices[i], *choice);
      return;
    }
    if (context_.cancel != nullptr && context_.cancel->load()) return;
    const std::size_t cls = order(depth);
    while (first < last) {
      const std::uint32_t fused = choices[first].fused[depth];
      std::size_t end = first + 1;
      while (end < last && choices[end].fused[depth] == fused) ++end;
      const auto [begin_list, end_list] = lists_->lists_with(cls, fused);
      for (std::uint32_t l = begin_list; l < end_list; ++l) {
        const auto both = lists_->combine_usage(used, lists_->lists(cls)[l].usage);
        if (!both || !may_become_allowed(*both, depth + 1)) continue;
        (*choice)[cls] = l;
        if (depth + 1 < classes_.size() && prefix_of(*choice, depth + 1).points.size() == 0)
          continue;
        emit_all(depth + 1, first, end, *both, choice);
      }
      first = end;
    }
  }

  bool may_become_allowed(const Usage& used, std::size_t depth) const {
    return std::any_of(allowed_.begin(), allowed_.end(),
                       [&](const Usage& target) { return reachable(used, target, depth); });
  }

  // ---- fronts ------------------------------------------------------------------------------
  struct Front {
    PointSet points;                             // energy, latency, segments, persistent
    std::vector<std::vector<std::uint32_t>> at;  // per point: position in each class's list
  };

  /// Partial assignments of the classes up to some depth: closed sums of the rows, values of the
  /// products still open, positions in the lists.
  struct Prefix {
    PointSet points;
    std::vector<std::uint32_t> at;  // depth numbers each
  };

  std::vector<std::uint32_t> contents(const ListChoice& choice, std::size_t depth) const {
    std::vector<std::uint32_t> key;
    for (std::size_t c = 0; c < depth; ++c)
      key.push_back(lists_->lists(order(c))[choice[order(c)]].content);
    return key;
  }

  std::size_t order(std::size_t depth) const { return lists_->order()[depth]; }

  const Prefix& prefix_of(const ListChoice& choice, std::size_t depth) {
    const auto [at, inserted] = prefixes_.try_emplace(contents(choice, depth));
    if (inserted) at->second = make_prefix(choice, depth);
    return at->second;
  }

  Prefix make_prefix(const ListChoice& choice, std::size_t depth) {
    Prefix result;
    const Stage& stage = lists_->stage(depth);
    result.points.dimension = stage.width;
    if (depth == 0) {
      result.points.values = stage.initial;
      return result;
    }
    const Prefix& outer = prefix_of(choice, depth - 1);
    const StateList& list = lists_->lists(order(depth - 1))[choice[order(depth - 1)]];
    std::vector<double> extended(stage.width), values;
    double value = 0;
    Prefix all;
    all.points.dimension = stage.width;
    for (std::size_t p = 0; p < outer.points.size(); ++p) {
      for (std::uint32_t s = 0; s < list.states.size(); ++s) {
        ++result_.evaluated;
        if (!lists_->extend(depth, outer.points.point(p), list.states[s], true, extended.data(),
                            &value))
          continue;
        all.points.values.insert(all.points.values.end(), extended.begin(), extended.end());
        all.at.insert(all.at.end(), outer.at.begin() + static_cast<std::ptrdiff_t>(p * (depth - 1)),
                      outer.at.begin() + static_cast<std::ptrdiff_t>((p + 1) * (depth - 1)));
        all.at.push_back(s);
        values.push_back(value);
      }
    }
    if (context_.beam > 0)
      keep(best_of(values), depth, all, &result);
    else
      keep_front(depth, all, &result);
    return result;
  }

  /// The few most promising partial assignments, ascending.
  std::vector<std::uint32_t> best_of(const std::vector<double>& values) const {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    if (order.size() <= context_.beam) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    order.resize(context_.beam);
    std::sort(order.begin(), order.end());
    return order;
  }

  bool prunes() const { return context_.options->pruning.dominance && program_.monotone; }

  static void keep(const std::vector<std::uint32_t>& kept, std::size_t depth, const Prefix& all,
                   Prefix* result) {
    for (std::uint32_t i : kept) {
      const double* point = all.points.point(i);
      result->points.values.insert(result->points.values.end(), point,
                                   point + all.points.dimension);
      result->at.insert(result->at.end(), all.at.begin() + static_cast<std::ptrdiff_t>(i * depth),
                        all.at.begin() + static_cast<std::ptrdiff_t>((i + 1) * depth));
    }
  }

  void keep_front(std::size_t depth, const Prefix& all, Prefix* result) const {
    if (!prunes()) {
      *result = all;
      return;
    }
    keep(pareto_front(lists_->criteria(depth, all.points)), depth, all, result);
  }

  const Front& front_of(const ListChoice& choice) {
    const auto [at, inserted] = fronts_.try_emplace(contents(choice, classes_.size()));
    if (inserted) at->second = make_front(choice);
    return at->second;
  }

  Front make_front(const ListChoice& choice) {
    const std::size_t depth = classes_.size();
    Front front;
    front.points.dimension = lists_->front_width();
    if (depth == 0) {
      add_to_front(lists_->stage(0).initial.data(), {}, &front);
      return front;
    }
    const Prefix& outer = prefix_of(choice, depth - 1);
    const StateList& list = lists_->lists(order(depth - 1))[choice[order(depth - 1)]];
    std::vector<double> rows(lists_->stage(depth).width);
    for (std::size_t p = 0; p < outer.points.size(); ++p) {
      for (std::uint32_t s = 0; s < list.states.size(); ++s) {
        ++result_.evaluated;
        if (!lists_->extend(depth, outer.points.point(p), list.states[s], true, rows.data(),
                            nullptr))
          continue;
        std::vector<std::uint32_t> at(
            outer.at.begin() + static_cast<std::ptrdiff_t>(p * (depth - 1)),
            outer.at.begin() + static_cast<std::ptrdiff_t>((p + 1) * (depth - 1)));
        at.push_back(s);
        add_to_front(rows.data(), at, &front);
      }
    }
    return front;
  }

  void add_to_front(const double* rows, const std::vector<std::uint32_t>& at, Front* front) const {
    std::vector<double> point(front->points.dimension);
    lists_->finish(rows, point.data());
    if (context_.bound.hopeless(point[0], point[1])) return;
    PointSet& points = front->points;
    if (context_.options->pruning.dominance) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < points.size(); ++i)
        if (dominates(points.point(i), point.data(), points.dimension)) return;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (dominates(point.data(), points.point(i), points.dimension)) continue;
        if (kept != i) {
          std::copy_n(points.point(i), points.dimension,
                      points.values.begin() + static_cast<std::ptrdiff_t>(kept * points.dimension));
          front->at[kept] = std::move(front->at[i]);
        }
        ++kept;
      }
      points.values.resize(kept * points.dimension);
      front->at.resize(kept);
    }
    points.values.insert(points.values.end(), point.begin(), point.end());
    front->at.push_back(at);
  }

  // ---- pmappings ---------------------------------------------------------------------------
  void emit(const FusedChoice& fused, const ListChoice& choice) {
    const Front& front = front_of(choice);
    if (front.points.size() == 0) return;
    PmappingGroup& group = result_.groups.emplace_back();
    group.space_index = fused.group;
    const std::size_t levels = context_.space->compatibilities[fused.group].loops.size() + 1;
    const std::size_t tracked = context_.tracked->size();
    group.stride = 2 + tracked * levels + tracked;
    group.values.assign(front.points.size() * group.stride, 0);
    for (std::size_t i = 0; i < front.points.size(); ++i) {
      lists_->collapse(fused, front.points.point(i), levels,
                       group.values.data() + i * group.stride);
      group.templates.push_back(template_index_);
      std::vector<std::uint32_t> states(classes_.size());
      for (std::size_t d = 0; d < classes_.size(); ++d)
        states[order(d)] = lists_->lists(order(d))[choice[order(d)]].states[front.at[i][d]];
      group.states.push_back(std::move(states));
    }
  }

  const TileSearchContext& context_;
  const EinsumShape& shape_;
  const Template& templ_;
  std::uint32_t template_index_;
  const std::vector<VariableClass>& classes_;
  const std::vector<ClassStates>& states_;
  const SimpleProgram& program_;
  std::unique_ptr<StateLists> lists_;
  std::set<std::pair<std::size_t, std::vector<double>>> tried_;  // by fits(), in vain
  std::vector<std::set<Usage>> possible_;                        // per depth
  std::set<Usage> allowed_;                                      // uses of the demanding fanouts
  std::map<std::vector<std::uint32_t>, Prefix> prefixes_;
  std::map<std::vector<std::uint32_t>, Front> fronts_;
  TemplateResult result_;
};

}  // namespace

CompiledTemplate compile_template(const TileSearchContext& context, const Template& templ) {
  CompiledTemplate result;
  result.classes = classes_of(context, templ);
  result.states = enumerate_all(context, result.classes);
  result.considered = 1;
  for (const ClassStates& states : result.states)
    result.considered *= static_cast<double>(states.size());
  if (result.considered == 0) return result;
  result.program = tabulate((*context.problem)[context.shape->einsum], *context.shape, templ,
                            result.classes, result.states,
                            compile(*context.problem, *context.shape, templ, result.classes,
                                    *context.tracked, *context.unlimited));
  return result;
}

TemplateResult search_tile_shapes(const TileSearchContext& context, const Template& templ,
                                  const CompiledTemplate& compiled, std::uint32_t template_index) {
  return TemplateSearch(context, templ, compiled, template_index).run();
}

std::vector<std::int64_t> loop_trips(const EinsumShape& shape, const Template& templ,
                                     const CompiledTemplate& compiled,
                                     const std::vector<std::uint32_t>& states) {
  const std::vector<VariableClass>& classes = compiled.classes;
  const std::vector<ClassStates>& all = compiled.states;
  std::vector<std::int64_t> trips(templ.loops.size(), 1);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::int64_t* chosen = all[c].state(states[c]);
    std::vector<std::int64_t> rest(shape.sizes);
    for (std::size_t l = 0; l < classes[c].loops.size(); ++l)
      if (classes[c].loops[l].fused) rest[classes[c].loops[l].variable] /= chosen[l];
    for (std::size_t l = 0; l < classes[c].loops.size(); ++l) {
      const ClassLoop& loop = classes[c].loops[l];
      if (loop.fused) {
        trips[loop.places.front()] = chosen[l];
        continue;
      }
      // A joint trip count is shared out among the variables, prime by prime.
      std::int64_t left = chosen[l];
      for (std::uint32_t place : loop.places) {
        const std::uint32_t v = templ.loops[place].variable;
        const std::int64_t part = std::gcd(left, rest[v]);
        trips[place] = part;
        rest[v] /= part;
        left /= part;
      }
      SLUICE_CHECK(left == 1, "a joint loop does not divide its variables");
    }
  }
  return trips;
}

}  // namespace sluice::fused
