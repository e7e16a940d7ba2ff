#include "frame_walker.h"

#include <algorithm>

#include "group_constraints.h"
#include "mapper/common/contains.h"
#include "model/bind/divisors.h"
#include "sluice/support/error.h"

namespace sluice::compound {
namespace {

int loops_of(const NodeList& nodes) {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
    return std::holds_alternative<TemporalNode>(node.kind) ||
           std::holds_alternative<SpatialNode>(node.kind);
  }));
}

class FrameWalker {
 public:
  FrameWalker(const BoundProblem& problem, const Constraints& constraints, const Group& group,
              const std::vector<std::uint32_t>& computes, const FrameStart& start, ComponentId home,
              Effort effort, const std::function<bool()>& go_on,
              const std::function<bool(const Frame&)>& visit)
      : problem_(problem),
        constraints_(constraints),
        group_(group),
        at_home_(start.at_home),
        most_loops_(start.most_loops),
        effort_(effort),
        go_on_(go_on),
        visit_(visit),
        tiles_(start.tiles),
        spread_over_(start.spread) {
    const BoundCompute& compute = problem[group.einsum(0)].computes[computes[0]];
    networks_ = compute.networks;
    Level level;
    const int above = compute.depth[start.from.index()], last = compute.depth[home.index()];
    for (int depth = above + 1; depth <= last; ++depth) {
      const ComponentId id = compute.path[static_cast<std::size_t>(depth)];
      for (std::uint32_t d = 0; d < problem.arch[id].spatial.size(); ++d)
        level.dimensions.push_back({id, d});
      if (!problem.arch[id].holds_tensors()) continue;
      level.memory = id;
      levels_.push_back(std::move(level));
      level = {};
    }
    frame_.home = home;
    frame_.held = start.held;
    frame_.nodes = start.nodes;
    frame_.steps = start.steps;
  }

  bool run() { return spread(0, 0); }

 private:
  struct Dimension {
    ComponentId component;
    std::uint32_t index = 0;
  };
  struct Level {
    std::vector<Dimension> dimensions;  ///< between the memory or toll above and `memory`
    ComponentId memory;                 ///< or a toll
    std::size_t most_loops = 1;         ///< likely frames: temporal loops at this level
    bool has_room = false;              ///< likely frames: some tiles of so many loops have
  };
  struct Steps {
    std::size_t loop_class = 0;
    std::int64_t trips = 1;
  };

  const BoundEinsum& bound(std::size_t e) const { return problem_[group_.einsum(e)]; }

  TensorMask local(std::size_t e, const std::vector<TensorId>& tensors) const {
    TensorMask mask = 0;
    for (TensorId tensor : tensors) {
      const int t = bound(e).local_tensor[tensor.index()];
      if (t >= 0) mask |= TensorMask{1} << t;
    }
    return mask;
  }

  // ---- spatial loops ---------------------------------------------------------------------------

  bool has_network(ComponentId component) const {
    return std::any_of(networks_.begin(), networks_.end(),
                       [&](const PathNetwork& n) { return n.fanned == component; });
  }

  bool may_spread(std::size_t c, const Dimension& dimension) const {
    const LoopClass& loop = group_.classes[c];
    if (!loop.spatial || (!loop.reduced.empty() && !has_network(dimension.component))) return false;
    for (std::size_t e = 0; e < group_.size(); ++e)
      if (!may_unroll(problem_, constraints_, group_.einsum(e), dimension.component,
                      dimension.index,
                      static_cast<std::size_t>(bound(e).local_variable[loop.variable[e]->index()])))
        return false;
    return true;
  }

  std::int64_t fanout(const Dimension& dimension) const {
    std::int64_t most = 0;
    for (std::size_t e = 0; e < group_.size(); ++e)
      most = std::max(
          most, bound(e).components[dimension.component.index()].spatial[dimension.index].fanout);
    return most;
  }

  bool spread(std::size_t l, std::size_t d) {
    if (d == levels_[l].dimensions.size()) return choose_held(l);
    const Dimension dimension = levels_[l].dimensions[d];
    if (effort_ == Effort::kAll) return fill(l, d, 0, fanout(dimension));
    // Likely frames: some of a container's dimensions, from the first on, as far as one class goes.
    if (!spread(l, end_of_container(l, d))) return false;
    for (std::size_t c = first_class(l, d); c < group_.classes.size(); ++c) {
      if (!may_spread(c, dimension)) continue;
      const std::vector<std::int64_t> trips = trips_over(c, fanout(dimension));
      if (!trips.empty() &&
          !spread_over(dimension, c, trips.back(), [&] { return spread(l, d + 1); }))
        return false;
    }
    return true;
  }

  std::vector<std::int64_t> trips_over(std::size_t c, std::int64_t room) {
    std::vector<std::int64_t> trips;
    for (const std::int64_t divisor : divisors_.of(tiles_[c]))
      if (divisor > 1 && divisor <= room) trips.push_back(divisor);
    return trips;
  }

  /// Further loops over a dimension, of classes from number `first` on, for at most `room`
  /// instances each. What a collective completes takes a dimension alone: it goes over all of it.
  bool fill(std::size_t l, std::size_t d, std::size_t first, std::int64_t room) {
    const Dimension dimension = levels_[l].dimensions[d];
    if (!spread(l, d + 1)) return false;
    for (std::size_t c = first; c < group_.classes.size(); ++c) {
      const bool alone = !group_.classes[c].reduced.empty();
      if (!may_spread(c, dimension) || (alone && room < fanout(dimension))) continue;
      for (const std::int64_t trips : trips_over(c, room))
        if (!spread_over(dimension, c, trips,
                         [&] { return fill(l, d, c + 1, alone ? 1 : room / trips); }))
          return false;
    }
    return true;
  }

  std::size_t end_of_container(std::size_t l, std::size_t d) const {
    const std::vector<Dimension>& dimensions = levels_[l].dimensions;
    std::size_t end = d;
    while (end < dimensions.size() && dimensions[end].component == dimensions[d].component) ++end;
    return end;
  }

  /// Likely frames: equal dimensions of one container take their classes in ascending order.
  std::size_t first_class(std::size_t l, std::size_t d) const {
    if (effort_ == Effort::kAll || d == 0) return 0;
    const Dimension &own = levels_[l].dimensions[d], &before = levels_[l].dimensions[d - 1];
    if (own.component != before.component || fanout(own) != fanout(before)) return 0;
    const auto* node =
        frame_.nodes.empty() ? nullptr : std::get_if<SpatialNode>(&frame_.nodes.back().kind);
    if (node == nullptr || node->component != before.component || node->dimension != before.index)
      return 0;
    for (std::size_t c = 0; c < group_.classes.size(); ++c)
      if (group_.classes[c].variables == node->variables) return c;
    return 0;
  }

  bool spread_over(const Dimension& dimension, std::size_t c, std::int64_t trips,
                   const std::function<bool()>& next) {
    if (loops_left() == 0) return true;
    tiles_[c] /= trips;
    SpatialNode node;
    node.variables = group_.classes[c].variables;
    node.tile_shape = tiles_[c];
    node.component = dimension.component;
    node.dimension = dimension.index;
    frame_.nodes.push_back({node});
    spread_over_[c].push_back(problem_.arch[dimension.component].spatial[dimension.index].name);
    const bool go_on = next();
    spread_over_[c].pop_back();
    frame_.nodes.pop_back();
    tiles_[c] *= trips;
    return go_on;
  }

  // ---- what a memory holds ---------------------------------------------------------------------

  /// Tensors that the memory of a level must and may hold, as all Einsums that use them say.
  /// False: they cannot agree, or an internal tensor would have to be held above its home.
  bool agree(std::size_t l, std::vector<TensorId>* must, std::vector<TensorId>* may) const {
    const ComponentId memory = levels_[l].memory;
    const bool is_home = l + 1 == levels_.size();
    std::vector<KeepSets> sets;
    for (std::size_t e = 0; e < group_.size(); ++e)
      sets.push_back(
          allowed_sets(problem_, constraints_, group_.einsum(e), memory, frame_.held[e]));
    const auto asked = [&](TensorId tensor, bool all_of) {
      bool any = false, all = true, has_say = false;
      for (std::size_t e = 0; e < group_.size(); ++e) {
        const int t = bound(e).local_tensor[tensor.index()];
        if (t < 0 || has_no_say(l, e)) continue;
        has_say = true;
        any |= (sets[e].must >> t & 1) != 0;
        all &= ((sets[e].must | sets[e].may) >> t & 1) != 0;
      }
      return all_of ? all && has_say : any;
    };
    for (TensorId tensor : group_.internal) {
      const bool stays = is_home && contains(at_home_, tensor);
      if (stays ? !asked(tensor, true) : asked(tensor, false)) return false;
    }
    for (TensorId tensor : group_.external) {
      if (asked(tensor, false) && !asked(tensor, true)) return false;
      if (asked(tensor, false))
        must->push_back(tensor);
      else if (asked(tensor, true))
        may->push_back(tensor);
    }
    return true;
  }

  /// A copy goes where others go.
  bool has_no_say(std::size_t l, std::size_t e) const {
    return is_toll(l) && problem_.workload[group_.einsum(e)].is_copy_operation;
  }

  bool choose_held(std::size_t l) {
    std::vector<TensorId> must, may;
    if (!agree(l, &must, &may)) return true;
    SLUICE_CHECK(may.size() < 64, "too many optional tensors in one memory");
    const std::uint64_t all = (std::uint64_t{1} << may.size()) - 1;
    // Likely: everything, or nothing but what must be; no toll that need not be paid.
    const bool most = effort_ == Effort::kAll || !is_toll(l);
    for (std::uint64_t subset = most ? all : 0;; subset = (subset - 1) & all) {
      std::vector<TensorId> held = must;
      for (std::size_t i = 0; i < may.size(); ++i)
        if (subset >> i & 1) held.push_back(may[i]);
      if (!hold(l, held)) return false;
      if (subset == 0) return true;
      if (effort_ == Effort::kLikely) subset = 1;
    }
  }

  bool hold(std::size_t l, const std::vector<TensorId>& held) {
    const bool is_home = l + 1 == levels_.size();
    const std::size_t memory = levels_[l].memory.index();
    for (std::size_t e = 0; e < group_.size(); ++e) {
      frame_.held[e][memory] = local(e, held);
      if (is_home) frame_.held[e][memory] |= local(e, at_home_);
    }
    const bool go_on = is_toll(l)                     ? pass(l, held)
                       : is_home && group_.size() > 1 ? choose_first(l, held)
                                                      : enclose(l, held);
    for (std::size_t e = 0; e < group_.size(); ++e) frame_.held[e][memory] = 0;
    return go_on;
  }

  bool is_toll(std::size_t l) const { return problem_.arch[levels_[l].memory].is_toll(); }

  bool pass(std::size_t l, const std::vector<TensorId>& held) {
    const std::size_t n_nodes = frame_.nodes.size();
    append(held, levels_[l].memory);
    const bool go_on = next_level(l);
    frame_.nodes.resize(n_nodes);
    return go_on;
  }

  /// Of the tensors at home that one Einsum alone uses: which stand first in its child, and which
  /// in the frame. Likely: all of them here or all of them there.
  bool choose_first(std::size_t l, const std::vector<TensorId>& held) {
    std::vector<TensorId> lone;
    std::vector<TensorId> shared;
    for (TensorId tensor : held) (n_users(tensor) == 1 ? lone : shared).push_back(tensor);
    SLUICE_CHECK(lone.size() < 64, "too many tensors in one memory");
    const std::uint64_t all = (std::uint64_t{1} << lone.size()) - 1;
    for (std::uint64_t subset = all;; subset = (subset - 1) & all) {
      std::vector<TensorId> above = shared;
      frame_.first.assign(group_.size(), 0);
      for (std::size_t i = 0; i < lone.size(); ++i) {
        if (!(subset >> i & 1)) above.push_back(lone[i]);
        for (std::size_t e = 0; (subset >> i & 1) && e < group_.size(); ++e)
          frame_.first[e] |= local(e, {lone[i]});
      }
      if (!enclose(l, above)) return false;
      if (subset == 0) return true;
      if (effort_ == Effort::kLikely) subset = 1;
    }
  }

  std::size_t n_users(TensorId tensor) const {
    std::size_t users = 0;
    for (std::size_t e = 0; e < group_.size(); ++e)
      users += bound(e).local_tensor[tensor.index()] >= 0 ? 1 : 0;
    return users;
  }

  /// Loops and nodes of a level. Likely frames have no loops where nothing is held.
  bool enclose(std::size_t l, const std::vector<TensorId>& above) {
    const bool is_home = l + 1 == levels_.size();
    if (!is_home || group_.size() == 1) frame_.first.assign(group_.size(), 0);
    if (effort_ == Effort::kAll) return choose_steps(l, above, 0, {});
    if (above.empty() && !is_home) return next_level(l);
    // One loop a level where that is enough for the tiles to have room, else more.
    for (Level& level = levels_[l]; level.most_loops <= group_.classes.size(); ++level.most_loops) {
      level.has_room = false;
      if (!choose_steps(l, above, 0, {})) return false;
      if (level.has_room) break;
    }
    levels_[l].most_loops = 1;
    return true;
  }

  // ---- temporal loops --------------------------------------------------------------------------

  int loops_left() const {
    if (most_loops_ == kUnlimitedLoops) return kUnlimitedLoops;
    return most_loops_ - loops_of(frame_.nodes);
  }

  bool choose_steps(std::size_t l, const std::vector<TensorId>& held, std::size_t c,
                    std::vector<Steps> chosen) {
    if (c == group_.classes.size()) return order_steps(l, held, chosen);
    if (!choose_steps(l, held, c + 1, chosen)) return false;
    if (!group_.classes[c].temporal || static_cast<int>(chosen.size()) >= loops_left()) return true;
    const std::size_t most = levels_[l].most_loops;
    if (effort_ == Effort::kLikely && (chosen.size() == most || (most == 1 && !indexes_outputs(c))))
      return true;
    for (const std::int64_t trips : divisors_.of(tiles_[c])) {
      if (trips == 1) continue;
      std::vector<Steps> longer = chosen;
      longer.push_back({c, trips});
      if (!choose_steps(l, held, c + 1, longer)) return false;
    }
    return true;
  }

  bool indexes_outputs(std::size_t c) const {
    for (std::size_t e = 0; e < group_.size(); ++e)
      if (!group_.classes[c].variable[e] ||
          relevance(problem_.workload[group_.einsum(e)].output(), *group_.classes[c].variable[e]) ==
              Relevance::kIrrelevant)
        return false;
    return true;
  }

  bool order_steps(std::size_t l, const std::vector<TensorId>& held, std::vector<Steps> steps) {
    const auto before = [](const Steps& a, const Steps& b) { return a.loop_class < b.loop_class; };
    do {
      if (!go_on_() || !choose_resident(l, held, steps)) return false;
    } while (std::next_permutation(steps.begin(), steps.end(), before));
    return true;
  }

  bool is_touched(TensorId tensor, std::size_t c) const {
    for (std::size_t e = 0; e < group_.size(); ++e) {
      const int t = bound(e).local_tensor[tensor.index()];
      const auto& variable = group_.classes[c].variable[e];
      if (t >= 0 && variable &&
          bound(e).relevance[static_cast<std::size_t>(t)][static_cast<std::size_t>(
              bound(e).local_variable[variable->index()])] != Relevance::kIrrelevant)
        return true;
    }
    return false;
  }

  bool choose_resident(std::size_t l, const std::vector<TensorId>& held,
                       const std::vector<Steps>& steps) {
    if (steps.empty()) return place(l, {}, steps, held);
    if (effort_ == Effort::kLikely) {
      std::vector<TensorId> resident, others;
      for (TensorId tensor : held) (is_moved(tensor, steps) ? others : resident).push_back(tensor);
      return place(l, resident, steps, others);
    }
    SLUICE_CHECK(held.size() < 64, "too many tensors in one memory");
    const std::uint64_t all = (std::uint64_t{1} << held.size()) - 1;
    for (std::uint64_t subset = all;; subset = (subset - 1) & all) {
      std::vector<TensorId> resident, others;
      for (std::size_t i = 0; i < held.size(); ++i)
        (subset >> i & 1 ? resident : others).push_back(held[i]);
      if (!place(l, resident, steps, others)) return false;
      if (subset == 0) return true;
    }
  }

  bool is_moved(TensorId tensor, const std::vector<Steps>& steps) const {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Steps& step) { return is_touched(tensor, step.loop_class); });
  }

  void append(const std::vector<TensorId>& tensors, ComponentId memory) {
    if (tensors.empty()) return;
    StorageNode node;
    node.tensors = tensors;
    std::sort(node.tensors.begin(), node.tensors.end());
    node.component = memory;
    frame_.nodes.push_back({node});
  }

  bool place(std::size_t l, const std::vector<TensorId>& resident, const std::vector<Steps>& steps,
             const std::vector<TensorId>& others) {
    const std::size_t n_nodes = frame_.nodes.size();
    const std::vector<std::int64_t> tiles = tiles_;
    const double steps_above = frame_.steps;
    const ComponentId memory = levels_[l].memory;
    append(resident, memory);
    for (const Steps& step : steps) {
      tiles_[step.loop_class] /= step.trips;
      TemporalNode node;
      node.variables = group_.classes[step.loop_class].variables;
      node.tile_shape = tiles_[step.loop_class];
      frame_.nodes.push_back({node});
      frame_.steps *= static_cast<double>(step.trips);
    }
    std::vector<TensorId> inner = others;
    if (l + 1 == levels_.size()) inner.insert(inner.end(), at_home_.begin(), at_home_.end());
    append(inner, memory);
    const bool fits = effort_ == Effort::kAll || is_likely(l, resident, tiles, inner, steps);
    const bool go_on = fits ? next_level(l) : true;
    frame_.nodes.resize(n_nodes);
    tiles_ = tiles;
    frame_.steps = steps_above;
    return go_on;
  }

  bool next_level(std::size_t l) {
    if (l + 1 < levels_.size()) return spread(l + 1, 0);
    set_tiles();
    set_collectives();
    frame_.spread = spread_over_;
    return choose_algorithms(0);
  }

  /// The Einsum's tiles below loops that leave these tiles of the classes.
  std::vector<std::int64_t> tiles_of(std::size_t e,
                                     const std::vector<std::int64_t>& of_classes) const {
    std::vector<std::int64_t> own;
    for (const VariableRange& range : problem_.workload[group_.einsum(e)].iteration_space)
      own.push_back(range.size);
    for (std::size_t c = 0; c < group_.classes.size(); ++c)
      if (const auto& variable = group_.classes[c].variable[e])
        own[static_cast<std::size_t>(bound(e).local_variable[variable->index()])] = of_classes[c];
    return own;
  }

  void set_tiles() {
    frame_.tiles.clear();
    for (std::size_t e = 0; e < group_.size(); ++e) frame_.tiles.push_back(tiles_of(e, tiles_));
  }

  /// The tiles have room; of several loops none can have fewer steps.
  bool is_likely(std::size_t l, const std::vector<TensorId>& resident,
                 const std::vector<std::int64_t>& above, const std::vector<TensorId>& others,
                 const std::vector<Steps>& steps) {
    Level& level = levels_[l];
    if (!has_room(level.memory, resident, above, others)) return false;
    level.has_room = true;
    if (steps.size() < 2) return true;
    return std::none_of(steps.begin(), steps.end(), [&](const Steps& step) {
      const std::vector<std::int64_t>& all = divisors_.of(above[step.loop_class]);
      const std::int64_t fewer = *(std::find(all.begin(), all.end(), step.trips) - 1);
      const std::int64_t tile = tiles_[step.loop_class];
      tiles_[step.loop_class] = above[step.loop_class] / fewer;
      const bool could = has_room(level.memory, resident, above, others);
      tiles_[step.loop_class] = tile;
      return could;
    });
  }

  /// Whether each Einsum's tensors alone have room in a memory: those that stay with the tiles
  /// above its loops, the others with those below.
  bool has_room(ComponentId memory, const std::vector<TensorId>& resident,
                const std::vector<std::int64_t>& above, const std::vector<TensorId>& others) const {
    const bool below_steps = frame_.has_steps();
    for (std::size_t e = 0; e < group_.size(); ++e) {
      const EinsumId einsum = group_.einsum(e);
      const double bits =
          held_bits(problem_, einsum, memory, local(e, resident), tiles_of(e, above), false) +
          held_bits(problem_, einsum, memory, local(e, others), tiles_of(e, tiles_), below_steps);
      if (bits > bound(e).components[memory.index()].size_bits) return false;
    }
    return true;
  }

  /// Of the collectives that follow Einsum number `e` and those after it.
  bool choose_algorithms(std::size_t e) {
    while (e < group_.size() && frame_.complete[e].empty()) ++e;
    if (e == group_.size()) return visit_(frame_);
    for (const std::string& algorithm : algorithms(frame_.complete[e].front().tensor)) {
      frame_.complete[e].front().algorithm = algorithm;
      if (!choose_algorithms(e + 1)) return false;
    }
    return true;
  }

  /// What a constraint names, else all; likely: `auto`, the one of the least latency.
  std::vector<std::string> algorithms(TensorId tensor) const {
    for (const CollectiveConstraint& c : constraints_.collectives)
      if (c.tensor == tensor && !c.algorithms.empty()) return c.algorithms;
    std::vector<std::string> all = {"auto"};
    if (effort_ == Effort::kLikely) return all;
    const std::vector<std::string>& named = problem_.algorithms.names();
    all.insert(all.end(), named.begin(), named.end());
    return all;
  }

  void set_collectives() {
    frame_.complete.assign(group_.size(), {});
    for (std::size_t e = 0; e < group_.size(); ++e) {
      const Einsum& einsum = problem_.workload[group_.einsum(e)];
      const TensorId made = einsum.output().tensor;
      CollectiveNode node;
      for (std::size_t c = 0; c < group_.classes.size(); ++c) {
        const auto& reduced = group_.classes[c].reduced;
        if (contains(reduced, made))
          node.over.insert(node.over.end(), spread_over_[c].begin(), spread_over_[c].end());
      }
      if (node.over.empty() || !contains(at_home_, made)) continue;
      node.tensor = made;
      node.op = einsum.expression.reduction;
      node.src = node.dst = frame_.home;
      frame_.complete[e].push_back(std::move(node));
    }
  }

  DivisorMemo divisors_;
  const BoundProblem& problem_;
  const Constraints& constraints_;
  const Group& group_;
  const std::vector<TensorId>& at_home_;
  int most_loops_;
  Effort effort_;
  const std::function<bool()>& go_on_;
  const std::function<bool(const Frame&)>& visit_;
  std::vector<PathNetwork> networks_;
  std::vector<Level> levels_;
  Frame frame_;
  std::vector<std::int64_t> tiles_;                    ///< per class
  std::vector<std::vector<std::string>> spread_over_;  ///< per class: dimensions
};

}  // namespace

int most_shared_loops(const NodeList& nodes) {
  const auto* split = nodes.empty() ? nullptr : std::get_if<SplitNode>(&nodes.back().kind);
  if (split == nullptr) return 0;
  int most = 0;
  for (const NodeList& child : split->children) most = std::max(most, most_shared_loops(child));
  return loops_of(nodes) + most;
}

FrameStart outermost_start(const BoundProblem& problem, const Group& group,
                           const std::vector<std::uint32_t>& computes) {
  FrameStart start;
  start.from = outermost_memory(problem, group.einsum(0), computes[0]);
  start.at_home = group.internal;
  for (const LoopClass& found : group.classes) start.tiles.push_back(found.size);
  start.spread.resize(group.classes.size());
  for (std::size_t e = 0; e < group.size(); ++e) {
    auto& held = start.held.emplace_back(problem.arch.components.size(), 0);
    for (TensorId tensor : group.external) {
      const int t = problem[group.einsum(e)].local_tensor[tensor.index()];
      if (t >= 0) held[start.from.index()] |= TensorMask{1} << t;
    }
  }
  return start;
}

FrameStart start_below(const BoundProblem& problem, const Group& group, const Group& outer,
                       const Frame& frame, std::size_t first) {
  FrameStart start;
  start.from = frame.home;
  start.at_home = group.internal;
  start.nodes = frame.nodes;
  start.steps = frame.steps;
  start.spread.resize(group.classes.size());
  for (std::size_t e = 0; e < group.size(); ++e) {
    start.held.push_back(frame.held[first + e]);
    append_storage(problem[group.einsum(e)], frame.first[first + e], frame.home, &start.nodes);
  }
  for (std::size_t c = 0; c < group.classes.size(); ++c) {
    const auto& variables = group.classes[c].variable;
    const auto at = std::find_if(variables.begin(), variables.end(),
                                 [](const auto& variable) { return variable.has_value(); });
    const auto e = static_cast<std::size_t>(at - variables.begin());
    start.tiles.push_back(frame.tiles[first + e][static_cast<std::size_t>(
        problem[group.einsum(e)].local_variable[(*at)->index()])]);
    for (std::size_t o = 0; o < outer.classes.size(); ++o)
      if (outer.classes[o].variable[first + e] == *at) start.spread[c] = frame.spread[o];
  }
  return start;
}

std::vector<ComponentId> homes_of(const BoundProblem& problem, const Group& group,
                                  const std::vector<std::uint32_t>& computes, ComponentId from) {
  const BoundCompute& first = problem[group.einsum(0)].computes[computes[0]];
  std::vector<ComponentId> homes;
  for (ComponentId id : first.path) {
    if (first.depth[id.index()] <= first.depth[from.index()] || !problem.arch[id].is_memory())
      continue;
    bool everywhere = true;
    for (std::size_t e = 0; e < group.size(); ++e)
      everywhere &= problem[group.einsum(e)].computes[computes[e]].depth[id.index()] >= 0 &&
                    problem[group.einsum(e)].components[id.index()].enabled;
    if (everywhere) homes.push_back(id);
  }
  return homes;
}

bool for_each_frame(const BoundProblem& problem, const Constraints& constraints, const Group& group,
                    const std::vector<std::uint32_t>& computes, const FrameStart& start,
                    ComponentId home, Effort effort, const std::function<bool()>& go_on,
                    const std::function<bool(const Frame&)>& visit) {
  return FrameWalker(problem, constraints, group, computes, start, home, effort, go_on, visit)
      .run();
}

}  // namespace sluice::compound
