#include "nest_walker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "group_constraints.h"
#include "mapper/common/contains.h"
#include "mapper/shape/einsum_shape.h"
#include "mapper/shape/trip_choices.h"
#include "model/tree/finish_nests.h"

namespace sluice::compound {
namespace {

/// A loop of a nest before it is written: trips over a variable of the Einsum.
struct Steps {
  std::size_t variable = 0;
  std::int64_t trips = 1;
};

/// Tiles of the outermost loop over a variable, where they are uneven. Other loops divide as if it
/// went over trips * tile values; the tile of the next one must divide the unit.
struct Uneven {
  std::int64_t trips = 0;  ///< 0: even
  std::int64_t tile = 1, unit = 1;
};

/// Components that fan out above a memory: from the first one with an array on, temporal loops
/// stand above them.
struct Fanouts {
  std::vector<ComponentId> outer, array;
};

/// What a memory holds.
struct Held {
  ComponentId memory;
  TensorMask tensors = 0;
};

struct Dimension {
  ComponentId component;
  std::uint32_t index = 0;
  std::vector<Steps> loops;  ///< over it
};

class NestWalker {
 public:
  NestWalker(const BoundProblem& problem, const NestRequest& request, Effort effort,
             const std::function<bool()>& go_on, const std::function<bool(const NodeList&)>& visit)
      : problem_(problem),
        request_(request),
        bound_(problem[request.einsum]),
        compute_(bound_.computes[request.compute]),
        effort_(effort),
        odd_fanouts_(request.uneven == 0 ? 1 : fused::odd_fanouts(problem.arch)),
        go_on_(go_on),
        visit_(visit),
        tiles_(request.tiles),
        held_(request.held) {
    const int home = compute_.depth[request.home.index()];
    for (std::size_t p = static_cast<std::size_t>(home) + 1; p < compute_.path.size(); ++p) {
      const ComponentId id = compute_.path[p];
      below_.push_back(id);
      for (std::uint32_t d = 0; d < bound_.components[id.index()].spatial.size(); ++d)
        dimensions_.push_back({id, d, {}});
    }
    spatial_.assign(tiles_.size(), 1);
    for (std::size_t v = 0; v < tiles_.size(); ++v)
      uneven_.push_back({0, request.tiles[v], request.units[v]});
    if (effort == Effort::kLikely) find_likely_held();
  }

  bool run() {
    append_storage(bound_, request_.first, request_.home, &nodes_);
    return choose_uneven(0);
  }

 private:
  // ---- uneven loops ----------------------------------------------------------------------------

  /// Of each variable from number `v` on: even tiles, or the uneven ones of its outermost loop.
  bool choose_uneven(std::size_t v) {
    if (v == tiles_.size())
      return effort_ == Effort::kAll ? spread_all(0) : spread_likely(dimensions_.size());
    if (!choose_uneven(v + 1)) return false;
    if (!(request_.uneven >> v & 1)) return true;
    const std::int64_t size = tiles_[v];
    for (const std::int64_t tile :
         effort_ == Effort::kAll ? fused::imperfect_tiles(size, odd_fanouts_) : likely_tiles(v)) {
      const std::int64_t trips = fused::imperfect_trips(size, tile);
      uneven_[v] = {fused::trip_count(trips), tile,
                    fused::unit_inside(size, odd_fanouts_, size, size, trips)};
      tiles_[v] = uneven_[v].trips * tile;
      ++n_uneven_;
      const bool go_on = choose_uneven(v + 1);
      --n_uneven_;
      tiles_[v] = size;
      uneven_[v] = {0, size, size};
      if (!go_on) return false;
    }
    return true;
  }

  /// As few steps as a dimension allows, in tiles that are as even as they can be, where that fills
  /// more of it than divisors do.
  std::vector<std::int64_t> likely_tiles(std::size_t v) const {
    std::vector<std::int64_t> tiles;
    for (const Dimension& dimension : dimensions_) {
      const std::int64_t size = tiles_[v], room = fanout(dimension);
      if (size <= room || !may_take(dimension, v)) continue;
      const std::int64_t steps = (size + room - 1) / room, tile = (size + steps - 1) / steps;
      const std::vector<std::int64_t>& even = divisors_of(size);
      const std::int64_t most = *(std::upper_bound(even.begin(), even.end(), room) - 1);
      if (most < tile && tile > 1 && !contains(tiles, tile)) tiles.push_back(tile);
    }
    return tiles;
  }

  /// Whether a loop may stand at the current place. An uneven loop is the outermost.
  bool may_stand(const Steps& loop) const {
    const Uneven& uneven = uneven_[loop.variable];
    const std::int64_t around = tiles_[loop.variable];
    if (around == uneven.trips * uneven.tile) return loop.trips == uneven.trips;
    return around != uneven.tile || uneven.unit % (around / loop.trips) == 0;
  }

  const std::vector<std::int64_t>& divisors_of(std::int64_t value) const {
    return request_.divisors->of(value);
  }

  // ---- spatial loops ---------------------------------------------------------------------------

  bool may_take(const Dimension& dimension, std::size_t variable) const {
    return may_unroll(problem_, *request_.constraints, request_.einsum, dimension.component,
                      dimension.index, variable);
  }

  std::int64_t fanout(const Dimension& dimension) const {
    return bound_.components[dimension.component.index()].spatial[dimension.index].fanout;
  }

  bool with_loop(Dimension* dimension, const Steps& loop, const std::function<bool()>& next) {
    dimension->loops.push_back(loop);
    spatial_[loop.variable] *= loop.trips;
    const bool go_on = next();
    spatial_[loop.variable] /= loop.trips;
    dimension->loops.pop_back();
    return go_on;
  }

  bool spread_all(std::size_t d) {
    return d == dimensions_.size() ? start() : fill(d, 0, fanout(dimensions_[d]));
  }

  /// Further loops over a dimension, of variables from number `first` on, for at most `room`
  /// instances each.
  bool fill(std::size_t d, std::size_t first, std::int64_t room) {
    Dimension& dimension = dimensions_[d];
    if (!spread_all(d + 1)) return false;
    for (std::size_t v = first; room > 1 && v < tiles_.size(); ++v) {
      if (!may_take(dimension, v)) continue;
      for (const std::int64_t trips : divisors_of(tiles_[v] / spatial_[v]))
        if (trips > 1 && trips <= room &&
            !with_loop(&dimension, {v, trips}, [&] { return fill(d, v + 1, room / trips); }))
          return false;
    }
    return true;
  }

  /// Innermost dimension first, each as full as one variable makes it; of dimensions side by side
  /// that are equal, one order.
  bool spread_likely(std::size_t d) {
    if (d == 0) return start();
    Dimension& dimension = dimensions_[d - 1];
    bool any = false;
    std::size_t first = 0;
    if (d < dimensions_.size() && dimensions_[d].component == dimension.component &&
        fanout(dimensions_[d]) == fanout(dimension) && !dimensions_[d].loops.empty() &&
        reuse_of(dimensions_[d]) == reuse_of(dimension))
      first = dimensions_[d].loops.front().variable;
    for (std::size_t v = first; v < tiles_.size(); ++v) {
      if (!may_take(dimension, v)) continue;
      for (const std::int64_t trips : likely_trips(dimension, v)) {
        any = true;
        if (!with_loop(&dimension, {v, trips}, [&] { return spread_likely(d - 1); })) return false;
      }
    }
    return any || spread_likely(d - 1);
  }

  /// As many as there is room for in the memories above, and as many (perhaps one, that is no loop)
  /// if they need half of it: a double-buffered memory below further loops has no more.
  std::vector<std::int64_t> likely_trips(const Dimension& dimension, std::size_t v) {
    std::int64_t most = 1, most_in_half = 1;
    for (const std::int64_t divisor : divisors_of(tiles_[v] / spatial_[v])) {
      if (divisor > fanout(dimension)) break;
      spatial_[v] *= divisor;
      if (have_room_above(dimension, 1)) most = divisor;
      if (have_room_above(dimension, 2)) most_in_half = divisor;
      spatial_[v] /= divisor;
    }
    std::vector<std::int64_t> result;
    if (most > 1) result.push_back(most);
    if (most_in_half < most) result.push_back(most_in_half);
    return result;
  }

  /// Whether the tiles that the spatial loops alone make fit into one `parts`-th of each memory
  /// between home and a dimension.
  bool have_room_above(const Dimension& dimension, int parts) const {
    for (const Held& held : likely_held_) {
      if (compute_.depth[held.memory.index()] > compute_.depth[dimension.component.index()]) break;
      if (held_bits(problem_, request_.einsum, held.memory, held.tensors, spatial_, false) * parts >
          bound_.components[held.memory.index()].size_bits)
        return false;
    }
    return true;
  }

  /// What the memories below home hold in likely nests: all that they may.
  void find_likely_held() {
    std::vector<TensorMask> held = held_;
    for (ComponentId id : below_) {
      if (!problem_.arch[id].is_memory() || !bound_.components[id.index()].enabled) continue;
      const KeepSets sets =
          allowed_sets(problem_, *request_.constraints, request_.einsum, id, held);
      held[id.index()] = sets.must | sets.may;
      if (held[id.index()] != 0) likely_held_.push_back({id, held[id.index()]});
    }
  }

  TensorMask reuse_of(const Dimension& dimension) const {
    return bound_.components[dimension.component.index()].spatial[dimension.index].reuse;
  }

  bool start() {
    left_ = tiles_;
    for (std::size_t v = 0; v < left_.size(); ++v) left_[v] /= spatial_[v];
    return descend(0, {});
  }

  /// The spatial loops of components, and what passes those that are tolls; whether they may stand
  /// here.
  bool write_fanouts(const std::vector<ComponentId>& components) {
    bool may = true;
    for (ComponentId id : components) may &= write_fanout(id);
    return may;
  }

  bool write_fanout(ComponentId component) {
    bool may = true;
    for (const Dimension& dimension : dimensions_) {
      if (dimension.component != component) continue;
      for (const Steps& loop : dimension.loops) {
        if (loop.trips == 1) continue;
        may &= may_stand(loop);
        SpatialNode node;
        node.variables = {variable_id(loop.variable)};
        tiles_[loop.variable] /= loop.trips;
        node.tile_shape = tiles_[loop.variable];
        node.component = component;
        node.dimension = dimension.index;
        nodes_.push_back({std::move(node)});
      }
    }
    if (problem_.arch[component].is_toll())
      append_storage(bound_, held_[component.index()], component, &nodes_);
    return may;
  }

  // ---- memories and temporal loops -------------------------------------------------------------

  RankVariableId variable_id(std::size_t variable) const {
    return problem_.workload[request_.einsum].iteration_space[variable].variable;
  }

  /// From place `b` of the path on; `pending`: components since the last memory that fan out, and
  /// tolls.
  bool descend(std::size_t b, std::vector<ComponentId> pending) {
    const ComponentId id = below_[b];
    const bool is_toll = problem_.arch[id].is_toll();
    if (is_toll || !bound_.components[id.index()].spatial.empty()) pending.push_back(id);
    if (b + 1 == below_.size()) return finish(pending);
    if (!problem_.arch[id].holds_tensors() || !bound_.components[id.index()].enabled)
      return descend(b + 1, std::move(pending));
    const KeepSets sets = allowed_sets(problem_, *request_.constraints, request_.einsum, id, held_);
    // Likely: everything in a memory, no toll that need not be paid.
    const bool most = effort_ == Effort::kAll || !is_toll;
    for (TensorMask subset = most ? sets.may : 0;; subset = (subset - 1) & sets.may) {
      const TensorMask kept = sets.must | subset;
      held_[id.index()] = kept;
      const bool passes = is_toll || kept == 0;
      const bool go_on = passes ? descend(b + 1, pending) : segment(b, pending, kept);
      held_[id.index()] = 0;
      if (!go_on) return false;
      if (subset == 0 || effort_ == Effort::kLikely) break;
    }
    return true;
  }

  bool has_array(ComponentId id) const {
    const auto* container = std::get_if<Container>(&problem_.arch[id].kind);
    return container && container->array;
  }

  /// The spatial loops of `pending`, temporal loops and the node of the memory at place `b`.
  bool segment(std::size_t b, const std::vector<ComponentId>& pending, TensorMask kept) {
    const auto array = std::find_if(pending.begin(), pending.end(),
                                    [this](ComponentId id) { return has_array(id); });
    const Fanouts fanouts{{pending.begin(), array}, {array, pending.end()}};
    return choose_steps(kept, below_[b], [&](const std::vector<Steps>& steps) {
      return for_each_order(steps, [&](const std::vector<Steps>& ordered) {
        return place(b, kept, fanouts, ordered);
      });
    });
  }

  bool place(std::size_t b, TensorMask kept, const Fanouts& fanouts,
             const std::vector<Steps>& steps) {
    if (!go_on_()) return false;
    const TensorMask free = steps.empty() || !fanouts.array.empty() ? 0 : kept;
    if (effort_ == Effort::kLikely)
      return place_resident(b, kept, fanouts, steps, free & untouched_by(steps));
    for (TensorMask resident = free;; resident = (resident - 1) & free) {
      if (!place_resident(b, kept, fanouts, steps, resident)) return false;
      if (resident == 0) return true;
    }
  }

  TensorMask untouched_by(const std::vector<Steps>& steps) const {
    TensorMask result = 0;
    for (std::size_t t = 0; t < bound_.tensors.size(); ++t)
      if (std::all_of(steps.begin(), steps.end(), [&](const Steps& step) {
            return bound_.relevance[t][step.variable] == Relevance::kIrrelevant;
          }))
        result |= TensorMask{1} << t;
    return result;
  }

  /// The order of loops over one variable matters where they are uneven: steps come first then, as
  /// far out as nodes let them.
  bool place_resident(std::size_t b, TensorMask kept, const Fanouts& fanouts,
                      const std::vector<Steps>& steps, TensorMask resident) {
    const std::size_t n_nodes = nodes_.size();
    const std::vector<std::int64_t> tiles = tiles_;
    const bool steps_first = n_uneven_ > 0 && resident == 0;
    bool may = steps_first || write_fanouts(fanouts.outer);
    append_storage(bound_, resident, below_[b], &nodes_);
    may &= write_steps(steps);
    if (steps_first) may &= write_fanouts(fanouts.outer);
    may &= write_fanouts(fanouts.array);
    append_storage(bound_, kept & ~resident, below_[b], &nodes_);
    const bool go_on = may ? descend(b + 1, {}) : true;
    unwrite_steps(steps);
    tiles_ = tiles;
    nodes_.resize(n_nodes);
    return go_on;
  }

  /// Whether the steps may stand here.
  bool write_steps(const std::vector<Steps>& steps) {
    n_steps_ += steps.size();
    bool may = true;
    for (const Steps& step : steps) {
      may &= may_stand(step);
      tiles_[step.variable] /= step.trips;
      left_[step.variable] /= step.trips;
      TemporalNode node;
      node.variables = {variable_id(step.variable)};
      node.tile_shape = tiles_[step.variable];
      nodes_.push_back({std::move(node)});
    }
    return may;
  }

  void unwrite_steps(const std::vector<Steps>& steps) {
    n_steps_ -= steps.size();
    for (const Steps& step : steps) left_[step.variable] *= step.trips;
  }

  /// What is left, then the compute.
  bool finish(const std::vector<ComponentId>& pending) {
    std::vector<Steps> rest;
    for (std::size_t v : in_order_of_reduction())
      if (left_[v] > 1) rest.push_back({v, left_[v]});
    const auto write = [&](const std::vector<Steps>& ordered) {
      const std::size_t n_nodes = nodes_.size();
      const std::vector<std::int64_t> tiles = tiles_;
      bool may = n_uneven_ > 0 || write_fanouts(pending);
      may &= write_steps(ordered);
      if (n_uneven_ > 0) may &= write_fanouts(pending);
      nodes_.push_back({ComputeNode{request_.written_as, compute_.component}});
      const bool go_on = may ? visit_(nodes_) : true;
      unwrite_steps(ordered);
      tiles_ = tiles;
      nodes_.resize(n_nodes);
      return go_on;
    };
    return effort_ == Effort::kLikely ? write(rest) : for_each_order(rest, write);
  }

  /// Variables of the output first: sums stay where they are.
  std::vector<std::size_t> in_order_of_reduction() const {
    std::vector<std::size_t> order;
    const auto output = static_cast<std::size_t>(bound_.accesses.back().tensor);
    for (const bool reduced : {false, true})
      for (std::size_t v = 0; v < tiles_.size(); ++v)
        if ((bound_.relevance[output][v] == Relevance::kIrrelevant) == reduced) order.push_back(v);
    return order;
  }

  template <class Visit>
  bool choose_steps(TensorMask kept, ComponentId memory, const Visit& visit) {
    std::vector<Steps> chosen;
    std::vector<std::int64_t> inner = left_;
    return choose_step(0, kept, memory, &chosen, &inner, visit);
  }

  template <class Visit>
  bool choose_step(std::size_t v, TensorMask kept, ComponentId memory, std::vector<Steps>* chosen,
                   std::vector<std::int64_t>* inner, const Visit& visit) {
    if (v == left_.size())
      return (effort_ == Effort::kAll || is_likely(kept, memory, *chosen, *inner)) ? visit(*chosen)
                                                                                   : true;
    if (effort_ == Effort::kLikely && !(touched(kept) >> v & 1))
      return choose_step(v + 1, kept, memory, chosen, inner, visit);
    for (const std::int64_t trips : divisors_of(left_[v])) {
      (*inner)[v] = left_[v] / trips;
      if (trips > 1) chosen->push_back({v, trips});
      const bool go_on = choose_step(v + 1, kept, memory, chosen, inner, visit);
      if (trips > 1) chosen->pop_back();
      (*inner)[v] = left_[v];
      if (!go_on) return false;
    }
    return true;
  }

  std::uint64_t touched(TensorMask tensors) const {
    std::uint64_t result = 0;
    for (std::size_t t = 0; t < bound_.tensors.size(); ++t)
      for (std::size_t v = 0; (tensors >> t & 1) && v < tiles_.size(); ++v)
        if (bound_.relevance[t][v] != Relevance::kIrrelevant) result |= std::uint64_t{1} << v;
    return result;
  }

  /// The memory (or half of it) is as full as it can be: the tiles fit, and none of the loops can
  /// have fewer steps.
  bool is_likely(TensorMask kept, ComponentId memory, const std::vector<Steps>& chosen,
                 const std::vector<std::int64_t>& inner) const {
    std::vector<std::int64_t> tiles = inner;
    for (std::size_t v = 0; v < tiles.size(); ++v)
      tiles[v] = std::min(tiles[v] * spatial_below(memory, v), request_.tiles[v]);
    const double size = bound_.components[memory.index()].size_bits;
    return fills(kept, memory, size, chosen, tiles) ||
           (request_.halves && fills(kept, memory, size / 2, chosen, tiles));
  }

  bool fills(TensorMask kept, ComponentId memory, double size, const std::vector<Steps>& chosen,
             const std::vector<std::int64_t>& tiles) const {
    const bool below_steps = request_.has_steps || n_steps_ > 0;
    if (held_bits(problem_, request_.einsum, memory, kept, tiles, below_steps || !chosen.empty()) >
        size)
      return false;
    return std::all_of(chosen.begin(), chosen.end(), [&](const Steps& step) {
      const std::vector<std::int64_t>& all = divisors_of(left_[step.variable]);
      const std::int64_t fewer = *(std::find(all.begin(), all.end(), step.trips) - 1);
      std::vector<std::int64_t> larger = tiles;
      larger[step.variable] = larger[step.variable] * step.trips / fewer;
      const bool is_last = fewer == 1 && chosen.size() == 1;
      return held_bits(problem_, request_.einsum, memory, kept, larger, below_steps || !is_last) >
             size;
    });
  }

  std::int64_t spatial_below(ComponentId memory, std::size_t variable) const {
    std::int64_t result = 1;
    for (const Dimension& dimension : dimensions_)
      for (const Steps& loop : dimension.loops)
        if (loop.variable == variable &&
            compute_.depth[dimension.component.index()] > compute_.depth[memory.index()])
          result *= loop.trips;
    return result;
  }

  /// All orders of the loops; likely: each loop innermost once, the others as they come.
  template <class Visit>
  bool for_each_order(const std::vector<Steps>& steps, const Visit& visit) const {
    if (effort_ == Effort::kLikely) {
      if (steps.empty()) return visit(steps);
      for (std::size_t last = 0; last < steps.size(); ++last) {
        std::vector<Steps> ordered = steps;
        std::rotate(ordered.begin() + static_cast<std::ptrdiff_t>(last),
                    ordered.begin() + static_cast<std::ptrdiff_t>(last) + 1, ordered.end());
        if (!visit(ordered)) return false;
      }
      return true;
    }
    std::vector<Steps> ordered = steps;  // ascending by variable
    const auto before = [](const Steps& a, const Steps& b) { return a.variable < b.variable; };
    std::sort(ordered.begin(), ordered.end(), before);
    do {
      if (!visit(ordered)) return false;
    } while (std::next_permutation(ordered.begin(), ordered.end(), before));
    return true;
  }

  const BoundProblem& problem_;
  const NestRequest& request_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  Effort effort_;
  std::int64_t odd_fanouts_;
  const std::function<bool()>& go_on_;
  const std::function<bool(const NodeList&)>& visit_;
  std::vector<ComponentId> below_;     ///< the path below `home`, the compute last
  std::vector<Held> likely_held_;      ///< outermost first
  std::vector<Dimension> dimensions_;  ///< of what stands there, with the loops each has been given
  std::vector<std::int64_t> spatial_;  ///< per variable: product of those loops
  std::vector<std::int64_t> left_;     ///< per variable: steps that no temporal loop takes yet
  std::vector<std::int64_t> tiles_;    ///< per variable: the tile at the current place
  std::vector<Uneven> uneven_;         ///< per variable
  int n_uneven_ = 0;                   ///< variables with uneven tiles
  std::vector<TensorMask> held_;
  std::size_t n_steps_ = 0;  ///< temporal loops written
  NodeList nodes_;
};

}  // namespace

std::uint64_t may_be_uneven(const BoundProblem& problem, EinsumId einsum, ImperfectFactors wish) {
  std::uint64_t result = 0;
  if (wish == ImperfectFactors::kNone) return result;
  const fused::EinsumShape shape = fused::make_einsum_shape(problem, einsum);
  for (std::size_t v = 0; v < shape.sizes.size(); ++v)
    if (shape.tiles_freely(v) && shape.sizes[v] <= fused::kLargestImperfect)
      result |= std::uint64_t{1} << v;
  return result;
}

bool for_each_nest(const BoundProblem& problem, const NestRequest& request, Effort effort,
                   const std::function<bool()>& go_on,
                   const std::function<bool(const NodeList&)>& visit) {
  return NestWalker(problem, request, effort, go_on, visit).run();
}

std::int64_t box_of(const BoundAccess& access, const std::vector<std::int64_t>& tiles) {
  std::int64_t values = 1;
  for (const BoundIndex& index : access.index) values *= tile_extent(index, tiles.data());
  return values;
}

double held_bits(const BoundProblem& problem, EinsumId einsum, ComponentId memory,
                 TensorMask tensors, const std::vector<std::int64_t>& tiles, bool below_steps) {
  const BoundEinsum& bound = problem[einsum];
  const BoundComponent& component = bound.components[memory.index()];
  const bool twice =
      below_steps && std::get<Memory>(problem.arch[memory].kind).buffering == Buffering::kDouble;
  double bits = 0;
  for (std::size_t t = 0; t < bound.tensors.size(); ++t) {
    if (!(tensors >> t & 1)) continue;
    std::int64_t values = 0;
    for (const BoundAccess& access : bound.accesses)
      if (static_cast<std::size_t>(access.tensor) == t)
        values = std::max(values, box_of(access, tiles));
    bits += static_cast<double>(values) * component.bits_per_value[t];
  }
  return twice ? 2 * bits : bits;
}

void append_storage(const BoundEinsum& einsum, TensorMask tensors, ComponentId memory,
                    NodeList* nodes) {
  if (tensors == 0) return;
  StorageNode node;
  node.component = memory;
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
    if (tensors >> t & 1) node.tensors.push_back(einsum.tensors[t]);
  nodes->push_back({std::move(node)});
}

}  // namespace sluice::compound
