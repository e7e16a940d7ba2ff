#include "oracle/enumerate_einsum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "oracle/canonical_nest.h"
#include "oracle/recurrence.h"
#include "oracle/storage_choices.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

/// A place where a loop over one variable may stand.
struct Slot {
  std::size_t gap = 0;  ///< above rest[gap]; the last gap is below all storage nodes
  bool spatial = false;
  ComponentId component;
  std::uint32_t dimension = 0;
};

/// A loop in its gap, before the order within the gap is chosen.
struct PlacedLoop {
  Slot slot;
  RankVariableId variable;
  std::int64_t trips = 1;
  std::size_t index = 0;  ///< of the variable among the Einsum's own: routes depend on the order
};

/// All nests of one template.
class TemplateWalk {
 public:
  TemplateWalk(const BoundProblem& problem, const MapperOptions& options, EinsumId einsum,
               const StorageChoice& choice, NestCollector& out)
      : problem_(problem),
        options_(options),
        einsum_(problem.workload[einsum]),
        bound_(problem[einsum]),
        choice_(choice),
        out_(out) {
    find_ports();
    n_gaps_ = rest_.size() + 1;
    n_fused_gaps_ = count_fused_gaps();
    step_ = step_variable(problem.workload, einsum);
    in_cycle_ = in_cycle(problem.workload, einsum);
    collect_fanouts();
  }

  void run() { place_variable(0); }

 private:
  struct Fanout {
    ComponentId component;
    std::uint32_t dimension = 0;
    std::size_t gap = 0;
    std::int64_t free = 1;  ///< instances not yet used
    TensorMask reuse = 0;
    bool routed = false;  ///< behind a network that costs something
    bool array = false;   ///< of a systolic array
  };

  /// Loops over the instances of the outermost memory stand above all of its nodes but persistent
  /// ones: those are the first of `rest_`, with nothing else in between.
  void find_ports() {
    for (const NestStorage& node : choice_.top) (node.persistent ? top_ : rest_).push_back(node);
    n_outermost_ = rest_.size();
    rest_.insert(rest_.end(), choice_.rest.begin(), choice_.rest.end());
  }

  /// Above the outermost memory's nodes there are loops over ports only.
  bool has_place(std::size_t gap, bool spatial) const {
    return gap >= n_outermost_ || (gap == 0 && spatial);
  }

  /// Gaps above the last backing node of a shared tensor: their loops are fused.
  std::size_t count_fused_gaps() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i)
      if (rest_[i].backing && is_exchanged(problem_.roles, rest_[i].tensor)) count = i + 1;
    return count;
  }

  void collect_fanouts() {
    for (ComponentId c : choice_.compute->path) {
      std::size_t gap = 0;  // below every node of a memory before the fanout
      for (std::size_t i = 0; i < rest_.size(); ++i)
        if (rest_[i].component < c) gap = i + 1;
      if (std::any_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(gap),
                      [c](const NestStorage& node) { return !(node.component < c); }))
        continue;  // nowhere below the outer memories and above the inner ones
      const auto& dimensions = bound_.components[c.index()].spatial;
      for (std::uint32_t d = 0; d < dimensions.size(); ++d)
        if (dimensions[d].fanout > 1)
          fanouts_.push_back(
              {c, d, gap, dimensions[d].fanout, dimensions[d].reuse, is_routed(c), is_array(c)});
    }
  }

  bool is_array(ComponentId component) const {
    const Container* container = std::get_if<Container>(&problem_.arch[component].kind);
    return container && container->array.has_value();
  }

  bool is_routed(ComponentId component) const {
    const auto costs = [&](const PathNetwork& path) {
      const auto& network = std::get<Network>(problem_.arch[path.network].kind);
      const bool waits = network.link_bandwidth != kUnbounded || network.router_latency_s > 0 ||
                         network.queue_latency_s > 0;
      return path.fanned == component &&
             (network.hop_energy_j > 0 || (waits && network.implicit_time != ImplicitTime::kNone));
    };
    const auto& networks = choice_.compute->networks;
    return std::any_of(networks.begin(), networks.end(), costs);
  }

  /// Whether another variable has a loop there: two above a shared tensor are not in the space
  /// where routes depend on their order.
  bool is_taken(const Slot& slot, RankVariableId variable) const {
    return std::any_of(placed_.begin(), placed_.end(), [&](const PlacedLoop& l) {
      return l.slot.spatial && l.slot.component == slot.component &&
             l.slot.dimension == slot.dimension && l.variable != variable;
    });
  }

  /// Every tensor whose backing node is below the gap is indexed by the variable alone: nothing is
  /// made, or brought from nowhere, twice.
  bool indexes_all_unseen(RankVariableId variable, std::size_t gap) const {
    for (std::size_t i = gap; i < rest_.size(); ++i) {
      const NestStorage& node = rest_[i];
      if (node.backing && relevance_of(node.tensor, variable) != Relevance::kRelevant) return false;
      if (node.backing && walks_a_part(node.tensor, variable)) return false;
    }
    return true;
  }

  /// Whether several Einsums make the tensor, and not all the same of the rank that the variable
  /// walks.
  bool walks_a_part(TensorId tensor, RankVariableId variable) const {
    const Workload& workload = problem_.workload;
    const std::vector<EinsumId>& makers = problem_.roles.makers[tensor.index()];
    for (std::size_t r = 0; makers.size() > 1 && r < workload[tensor].ranks.size(); ++r) {
      bool walks = false;
      for (const TensorAccess& access : einsum_.accesses)
        walks = walks ||
                (access.tensor == tensor && access.projection[r].coefficient_of(variable) != 0);
      if (!walks) continue;
      std::set<std::pair<std::int64_t, std::int64_t>> ranges;  // first index, and how many
      for (EinsumId maker : makers) {
        const AffineExpression& index = workload[maker].output().projection[r];
        std::int64_t first = index.constant, size = 1;
        for (const AffineTerm& term : index.terms)
          for (const VariableRange& range : workload[maker].iteration_space)
            if (range.variable == term.variable) {
              first += term.coefficient * range.minimum;
              size += term.coefficient * (range.size - 1);
            }
        ranges.emplace(first, size);
      }
      if (ranges.size() > 1) return true;
    }
    return false;
  }

  /// The steps of a state follow each other, also under a loop that its producer shares.
  bool steps_through_unseen(RankVariableId variable, std::size_t gap) const {
    for (const Cycle& cycle : cycles_of(problem_.workload)) {
      const auto backed_below = [&](const NestStorage& node) {
        return node.backing && node.tensor == cycle.state;
      };
      if (std::none_of(rest_.begin() + static_cast<std::ptrdiff_t>(gap), rest_.end(), backed_below))
        continue;
      for (const TensorAccess& access : einsum_.accesses)
        if (access.tensor == cycle.state &&
            access.projection[cycle.rank].coefficient_of(variable) != 0)
          return true;
    }
    return false;
  }

  Relevance relevance_of(TensorId tensor, RankVariableId variable) const {
    return strongest_relevance(einsum_, tensor, variable);
  }

  bool breaks_reuse(RankVariableId variable, TensorMask reuse) const {
    for (std::size_t i = 0; i < bound_.tensors.size(); ++i)
      if ((reuse >> i & 1) && relevance_of(bound_.tensors[i], variable) != Relevance::kIrrelevant)
        return true;
    return false;
  }

  /// Slots of a variable, outermost first: in a gap temporal loops stand above spatial ones.
  std::vector<std::pair<Slot, Fanout*>> slots_of(RankVariableId variable) {
    std::vector<std::pair<Slot, Fanout*>> slots;
    for (std::size_t gap = 0; gap < n_gaps_; ++gap) {
      if (!indexes_all_unseen(variable, gap)) continue;
      if (has_place(gap, false)) slots.push_back({Slot{gap, false, {}, 0}, nullptr});
      for (Fanout& fanout : fanouts_) {
        if (fanout.gap != gap || breaks_reuse(variable, fanout.reuse)) continue;
        if (variable == step_ || steps_through_unseen(variable, gap)) continue;
        slots.push_back({Slot{gap, true, fanout.component, fanout.dimension}, &fanout});
      }
    }
    return slots;
  }

  void place_variable(std::size_t index) {
    if (out_.exceeded()) return;
    if (index == einsum_.iteration_space.size()) {
      order_gaps();
      return;
    }
    const VariableRange& range = einsum_.iteration_space[index];
    const auto slots = slots_of(range.variable);
    place_factor(index, slots, 0, range.size, 0);
  }

  /// Splits what is left of a variable's size over the slots from `next` on, in every exact way.
  void place_factor(std::size_t index, const std::vector<std::pair<Slot, Fanout*>>& slots,
                    std::size_t next, std::int64_t left, int fused) {
    if (left == 1) {
      place_variable(index + 1);
      return;
    }
    if (next == slots.size()) return;
    const RankVariableId variable = einsum_.iteration_space[index].variable;
    const auto& [slot, fanout] = slots[next];
    for (std::int64_t trips = 1; trips <= left; ++trips) {
      if (left % trips != 0) continue;
      if (fanout && trips > fanout->free) break;
      const bool is_fused = trips > 1 && slot.gap < n_fused_gaps_;
      if (is_fused && fanout && fanout->routed && is_taken(slot, variable)) break;
      if (is_fused && fanout && fanout->array) break;
      if (is_fused && (fused + 1 > options_.max_fused_loops_per_rank ||
                       n_fused_loops_ + 1 > options_.max_fused_loops))
        break;
      const std::int64_t free_before = fanout ? fanout->free : 0;
      if (fanout) fanout->free /= trips;
      n_fused_loops_ += is_fused ? 1 : 0;
      if (trips > 1) placed_.push_back({slot, variable, trips, index});
      place_factor(index, slots, next + 1, left / trips, fused + (is_fused ? 1 : 0));
      if (trips > 1) placed_.pop_back();
      n_fused_loops_ -= is_fused ? 1 : 0;
      if (fanout) fanout->free = free_before;
    }
  }

  /// Chooses the order of the loops of every gap, and which nodes slide.
  void order_gaps() {
    std::vector<std::vector<std::vector<PlacedLoop>>> orders(n_gaps_);
    for (std::size_t gap = 0; gap < n_gaps_; ++gap) {
      std::vector<PlacedLoop> loops;
      for (const PlacedLoop& loop : placed_)
        if (loop.slot.gap == gap) loops.push_back(loop);
      orders[gap] = orders_of(gap, std::move(loops));
    }
    std::vector<const std::vector<PlacedLoop>*> chosen(n_gaps_);
    choose_order(orders, chosen, 0);
  }

  static bool stands_before(const PlacedLoop& a, const PlacedLoop& b) {
    const auto key = [](const PlacedLoop& l) {
      return std::tuple(l.slot.spatial, l.slot.component, l.slot.dimension, l.index);
    };
    return key(a) < key(b);
  }

  std::vector<std::vector<PlacedLoop>> orders_of(std::size_t gap,
                                                 std::vector<PlacedLoop> loops) const {
    std::sort(loops.begin(), loops.end(), stands_before);
    if (has_steps_of_array(loops)) return orders_at_array(gap, std::move(loops));
    if (gap < n_fused_gaps_ || in_cycle_ || step_ || slides(gap, loops)) return all_orders(loops);
    // Below the fused loops the order in a gap only decides whether the node above can sink. Where
    // it can, the sunk nest is met elsewhere in the enumeration; so an irrelevant loop comes first.
    if (gap > 0 && !rest_[gap - 1].backing) {
      for (std::size_t i = 0; i < loops.size() && !loops[i].slot.spatial; ++i) {
        if (held_relevance(einsum_, rest_[gap - 1].tensor, loops[i].variable) !=
            Relevance::kRelevant) {
          std::rotate(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(i),
                      loops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          break;
        }
      }
    }
    if (!stands_above_array(gap)) return {loops};
    std::vector<std::vector<PlacedLoop>> orders = orders_at_array(gap, loops);
    orders.push_back(std::move(loops));
    return orders;
  }

  /// Whether an array stands in a gap: where nothing spreads over it, temporal loops have a place
  /// on either side of the other spatial loops there.
  bool stands_above_array(std::size_t gap) const {
    return gap >= n_fused_gaps_ &&
           std::any_of(fanouts_.begin(), fanouts_.end(),
                       [&](const Fanout& f) { return f.gap == gap && f.array; });
  }

  /// Whether loops over an array stand in a gap.
  bool has_steps_of_array(const std::vector<PlacedLoop>& loops) const {
    return std::any_of(loops.begin(), loops.end(), [&](const PlacedLoop& l) {
      return l.slot.spatial && is_array(l.slot.component);
    });
  }

  /// Temporal loops are the steps of the array's folds, but for one that a node slides over or that
  /// goes from step to step of a recurrence: that one may stand above the array.
  std::vector<std::vector<PlacedLoop>> orders_at_array(std::size_t gap,
                                                       std::vector<PlacedLoop> loops) const {
    const auto is_spatial = [](const PlacedLoop& l) { return l.slot.spatial; };
    const auto first_step = std::stable_partition(loops.begin(), loops.end(), is_spatial);
    const std::ptrdiff_t n_spatial = first_step - loops.begin();
    std::vector<std::vector<PlacedLoop>> orders = {loops};
    // Below a step that is not the last of the loops a state holds no slice for the next one.
    if (step_ || in_cycle_) {
      std::vector<PlacedLoop> next = loops;
      while (std::next_permutation(next.begin() + n_spatial, next.end(), stands_before))
        orders.push_back(next);
    }
    for (std::size_t l = static_cast<std::size_t>(n_spatial); l < loops.size(); ++l) {
      if (!slides(gap, {loops[l]}) && loops[l].variable != step_) continue;
      orders.push_back(loops);
      std::vector<PlacedLoop>& order = orders.back();
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(l),
                  order.begin() + static_cast<std::ptrdiff_t>(l) + 1);
    }
    return orders;
  }

  /// Whether one of the nodes right above the gap could pass a sliding window's loop in it.
  bool slides(std::size_t gap, const std::vector<PlacedLoop>& loops) const {
    for (std::size_t i = gap; i-- > 0;) {
      if (can_slide(rest_[i], loops)) return true;
      if (std::any_of(placed_.begin(), placed_.end(),
                      [i](const PlacedLoop& l) { return l.slot.gap == i; }))
        break;
    }
    return false;
  }

  bool can_slide(const NestStorage& node, const std::vector<PlacedLoop>& loops) const {
    if (node.backing || only_makes(node.tensor)) return false;
    return std::any_of(loops.begin(), loops.end(), [&](const PlacedLoop& l) {
      return !l.slot.spatial &&
             held_relevance(einsum_, node.tensor, l.variable) == Relevance::kPartial;
    });
  }

  /// What slides of an output goes back whole all the same: the node might as well stand below the
  /// loop.
  bool only_makes(TensorId tensor) const {
    return std::all_of(
        einsum_.accesses.begin(), einsum_.accesses.end(),
        [&](const TensorAccess& access) { return access.tensor != tensor || access.is_output; });
  }

  /// Every order in which a variable's temporal loop stands above its spatial ones, and routes
  /// over one dimension keep the order of the variables ("orders of routes").
  std::vector<std::vector<PlacedLoop>> all_orders(std::vector<PlacedLoop> loops) const {
    std::vector<std::vector<PlacedLoop>> orders;
    do {
      bool legal = true;
      for (std::size_t i = 0; i < loops.size(); ++i)
        for (std::size_t j = i + 1; j < loops.size(); ++j)
          if ((loops[i].variable == loops[j].variable || share_routes(loops[i], loops[j])) &&
              stands_before(loops[j], loops[i]))
            legal = false;
      if (legal) orders.push_back(loops);
    } while (std::next_permutation(loops.begin(), loops.end(), stands_before));
    return orders;
  }

  bool share_routes(const PlacedLoop& a, const PlacedLoop& b) const {
    return a.slot.spatial && b.slot.spatial && a.slot.component == b.slot.component &&
           a.slot.dimension == b.slot.dimension && is_routed(a.slot.component);
  }

  void choose_order(const std::vector<std::vector<std::vector<PlacedLoop>>>& orders,
                    std::vector<const std::vector<PlacedLoop>*>& chosen, std::size_t gap) {
    if (gap == n_gaps_) {
      std::vector<NestStorage> rest = rest_;
      choose_sliding(chosen, rest, 0);
      return;
    }
    for (const auto& order : orders[gap]) {
      chosen[gap] = &order;
      choose_order(orders, chosen, gap + 1);
    }
  }

  void choose_sliding(const std::vector<const std::vector<PlacedLoop>*>& chosen,
                      std::vector<NestStorage>& rest, std::size_t index) {
    if (out_.exceeded()) return;
    if (index == rest.size()) {
      emit(chosen, rest);
      return;
    }
    choose_sliding(chosen, rest, index + 1);
    std::size_t gap = index + 1;
    while (gap + 1 < n_gaps_ && chosen[gap]->empty()) ++gap;
    if (can_slide(rest[index], *chosen[gap])) {
      rest[index].sliding = true;
      choose_sliding(chosen, rest, index + 1);
      rest[index].sliding = false;
    }
  }

  void emit(const std::vector<const std::vector<PlacedLoop>*>& chosen,
            const std::vector<NestStorage>& rest) {
    std::map<RankVariableId, std::int64_t> tile;
    for (const VariableRange& range : einsum_.iteration_space) tile[range.variable] = range.size;
    std::vector<NestNode> nodes(top_.begin(), top_.end());
    const bool has_ports = n_outermost_ > 0 && !chosen[0]->empty();
    for (std::size_t gap = 0; gap < n_gaps_; ++gap) {
      for (const PlacedLoop& placed : *chosen[gap]) {
        NestLoop loop;
        loop.variable = placed.variable;
        loop.trips = placed.trips;
        loop.tile_shape = tile[placed.variable] /= placed.trips;
        loop.spatial = placed.slot.spatial;
        loop.component = placed.slot.component;
        loop.dimension = placed.slot.dimension;
        nodes.push_back(loop);
      }
      if (gap == rest.size()) continue;
      NestStorage storage = rest[gap];
      storage.below_ports = has_ports && gap < n_outermost_;
      if (storage.below_ports) storage.top = false;
      nodes.push_back(storage);
    }
    out_.count();
    // The order of loops above a state's backing node says whether a slice is lost: keep it.
    const int n_shared = step_ ? static_cast<int>(nodes.size()) : n_fused_loops_;
    auto nest = canonical_nest(einsum_, n_shared, std::move(nodes));
    if (nest && !turns_shared_loops(*nest) && insert_tolls(*nest)) out_.add(std::move(*nest));
  }

  /// Whether a shared temporal loop stands below a spatial one over the same variable with no node
  /// in between, where a node has sunk: the space leaves that out ("several loops per variable").
  bool turns_shared_loops(const std::vector<NestNode>& nest) const {
    std::set<RankVariableId> spatial;
    int loops = 0;
    for (const NestNode& node : nest) {
      const NestLoop* loop = std::get_if<NestLoop>(&node);
      if (!loop) {
        spatial.clear();
        continue;
      }
      if (++loops > n_fused_loops_) return false;
      if (loop->spatial)
        spatial.insert(loop->variable);
      else if (spatial.count(loop->variable) > 0)
        return true;
    }
    return false;
  }

  /// A toll holds nothing: of all its places, the one as far in as the memories and fanouts allow,
  /// where it keeps no other node from sinking. False where it has none.
  bool insert_tolls(std::vector<NestNode>& nest) const {
    for (const NestStorage& toll : choice_.tolls) {
      std::size_t lowest = 0;
      std::size_t highest = nest.size();
      for (std::size_t i = 0; i < nest.size(); ++i) {
        const NestStorage* storage = std::get_if<NestStorage>(&nest[i]);
        const NestLoop* loop = std::get_if<NestLoop>(&nest[i]);
        if (storage && storage->tensor == toll.tensor && storage->component < toll.component)
          lowest = i + 1;
        if (loop && loop->spatial && !(toll.component < loop->component)) lowest = i + 1;
        const bool inside =
            (storage && storage->tensor == toll.tensor && toll.component < storage->component) ||
            (loop && loop->spatial && toll.component < loop->component);
        if (inside) highest = std::min(highest, i);
      }
      if (lowest > highest) return false;
      nest.insert(nest.begin() + static_cast<std::ptrdiff_t>(highest), toll);
    }
    return true;
  }

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const Einsum& einsum_;
  const BoundEinsum& bound_;
  const StorageChoice& choice_;
  NestCollector& out_;
  std::vector<NestStorage> top_;   ///< persistent backing nodes
  std::vector<NestStorage> rest_;  ///< those of the outermost memory, then all others
  std::size_t n_outermost_ = 0;
  std::size_t n_gaps_ = 0;
  std::size_t n_fused_gaps_ = 0;
  std::vector<Fanout> fanouts_;
  std::vector<PlacedLoop> placed_;
  int n_fused_loops_ = 0;
  std::optional<RankVariableId> step_;  ///< goes from step to step of a recurrence
  bool in_cycle_ = false;               ///< of several Einsums
};

}  // namespace

NestList enumerate_nests(const BoundProblem& problem, const MapperOptions& options, EinsumId einsum,
                         const EnumerationLimits& limits) {
  NestCollector collector(einsum, limits.max_nests);
  int template_id = 0;
  const auto most = static_cast<std::size_t>(limits.max_nests);
  const std::vector<StorageChoice> choices = storage_choices(problem, einsum, most);
  if (choices.size() > most) return {.exceeded = true, .nests = {}};
  for (const StorageChoice& choice : choices) {
    collector.start_template(choice.compute->component, template_id++);
    TemplateWalk(problem, options, einsum, choice, collector).run();
  }
  return collector.take();
}

}  // namespace sluice::oracle
