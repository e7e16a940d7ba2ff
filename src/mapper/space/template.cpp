#include "template.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "loop_places.h"
#include "mapper/common/key_hash.h"
#include "mapper/common/network_cost.h"
#include "mapper/common/spatial_wishes.h"
#include "mapper/common/storage_wishes.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Enumerates kept tensors, then storage orders, for one compute of one Einsum.
class TemplateEnumerator {
 public:
  TemplateEnumerator(const BoundProblem& problem, const EinsumShape& shape,
                     const MapperOptions& options, const Constraints& constraints,
                     std::uint32_t compute, const TemplateLimits& limits,
                     std::vector<Template>* templates)
      : problem_(problem),
        shape_(shape),
        sets_(shape),
        options_(options),
        constraints_(constraints),
        bound_(problem[shape.einsum]),
        compute_(compute),
        limits_(limits),
        templates_(*templates) {
    for (ComponentId id : bound_.computes[compute].path)
      if (problem.arch[id].holds_tensors() && bound_.components[id.index()].enabled)
        holders_.push_back(id);
    held_.assign(problem.arch.components.size(), 0);
    double fanout = 1;
    fanout_.assign(problem.arch.components.size(), 1);
    for (ComponentId id : bound_.computes[compute].path) {
      for (const SpatialDimension& d : problem.arch[id].spatial)
        fanout *= static_cast<double>(d.fanout);
      fanout_[id.index()] = fanout;
    }
    asked_.assign(problem.arch.components.size(), false);
    for (const ComponentId id : holders_) asked_[id.index()] = is_asked_for(id);
    swaps_nodes_ = swaps_nodes();
    has_windows_ = has_windows();
  }

  void run() {
    if (draws()) count_choices();
    if (n_all_choices_ > kMostCounted) return draw_choices();
    choose_kept(0, 0);
  }

  /// With these nodes in this order alone.
  void run_with(const std::vector<Slot>& nodes) {
    if (!may_keep(nodes)) return;
    std::vector<Slot> outermost, rest;
    TensorMask seen = 0;
    for (Slot slot : nodes) {
      slot.backing = !(seen & bit(slot.tensor));
      slot.shared = slot.backing && shape_.tensors[slot.tensor].shared;
      slot.persistent = slot.backing && shape_.tensors[slot.tensor].persistent;
      seen |= bit(slot.tensor);
      (slot.component == holders_.front() || slot.persistent ? outermost : rest).push_back(slot);
    }
    std::sort(outermost.begin(), outermost.end(), [](const Slot& a, const Slot& b) {
      return std::pair(a.component, a.tensor) < std::pair(b.component, b.tensor);
    });
    if (!keeps_order(rest)) return;
    begin_with(std::move(outermost));
    for (Slot& slot : rest) {
      ordered_.slots.push_back(slot);
      ordered_.group_of.push_back(ordered_.count++);
    }
    if (order_allowed()) append_all(limits_);
  }

 private:
  /// Every choice of kept tensors gets its share of the limit; of very many, some.
  void count_choices() {
    counts_choices_ = true;
    choose_kept(0, 0);
    counts_choices_ = false;
    n_all_choices_ = std::exchange(n_choices_, 0);
    if (draw_kept(kFurthestOut)) furthest_out_ = held_;
    forget_kept();
    const std::size_t n_taken = std::min(n_all_choices_, most_choices());
    most_per_choice_ = limits_.most / std::max<std::size_t>(n_taken, 1) + 1;
  }

  /// The choice that keeps most, the one that keeps least (each tensor as far out as it may be),
  /// and others by chance, where to visit all would take long.
  void draw_choices() {
    std::set<std::vector<TensorMask>> drawn;
    for (std::size_t n = 0; n < most_choices() && !is_cancelled(limits_.cancel); ++n) {
      const std::uint64_t first = (n + (limits_.seed << 32U)) * holders_.size();
      const auto pick = [&](std::size_t index, TensorMask seen) {
        if (n < 2) return n == 0 ? all_tensors() : kFurthestOut(index, seen);
        const TensorMask half = KeyHash::mix(first + index);
        return n % 2 == 0 ? half & KeyHash::mix(half) : half;  // few nodes are often better
      };
      if (draw_kept(pick) && drawn.insert(held_).second) order_slots();
      forget_kept();
    }
  }

  void forget_kept() {
    required_.clear();
    std::fill(held_.begin(), held_.end(), 0);
  }

  /// Of what the holder of each number may keep, what `pick(number, seen)` names; false where that
  /// leaves a tensor out. `seen`: tensors that are held further out.
  template <class Pick>
  bool draw_kept(const Pick& pick) {
    std::fill(held_.begin(), held_.end(), 0);
    TensorMask seen = 0;
    for (std::size_t index = 0; index < holders_.size(); ++index) {
      const auto sets = useful_sets_of(holders_[index], seen);
      if (!sets) return false;
      TensorMask kept = sets->must;
      const TensorMask picked = sets->may & pick(index, seen) & ~kept;
      for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
        if ((picked & bit(t)) != 0 && has_room(holders_[index], kept | bit(t))) kept |= bit(t);
      held_[holders_[index].index()] = kept;
      required_.push_back(sets->must);
      seen |= kept;
    }
    return seen == all_tensors();
  }

  std::size_t most_choices() const { return limits_.most / 8 + 1; }

  /// The first choice, which keeps most, the last one, which keeps least, the one that keeps each
  /// tensor as far out as it may be, and others by chance.
  bool is_taken() const {
    if (n_all_choices_ <= most_choices()) return true;
    if (n_choices_ == 1 || n_choices_ == n_all_choices_ || held_ == furthest_out_) return true;
    return KeyHash::mix(n_choices_ + (limits_.seed << 32U)) % n_all_choices_ < most_choices();
  }

  bool draws() const { return limits_.most < std::numeric_limits<std::size_t>::max(); }

  /// Several orders have room in what a choice may have.
  std::size_t most_per_order() const { return draws() ? most_per_choice_ / 4 + 1 : limits_.most; }

  bool is_full() const {
    return is_cancelled(limits_.cancel) || templates_.size() >= limits_.cap ||
           templates_.size() - first_of_choice_ >= most_per_choice_;
  }

  static TensorMask bit(std::size_t tensor) { return TensorMask{1} << tensor; }

  /// Tensors that constraints force into or out of a memory. False: into it and out of it.
  bool constrain(ComponentId holder, TensorMask seen, KeepSets* sets) const {
    StorageWishes wishes = storage_wishes(constraints_, problem_[shape_.einsum], holder);
    for (const FusionConstraint& c : constraints_.fusion) {
      for (std::size_t t = 0; t < shape_.tensors.size(); ++t) {
        if (shape_.tensors[t].id != c.tensor || (seen & bit(t))) continue;
        const bool outermost = holder == outermost_memory();
        const bool allowed = c.fused ? !outermost && (!c.memory || *c.memory == holder) : true;
        if (!allowed)
          wishes.forbid |= bit(t);
        else if (!c.fused && outermost)
          wishes.keep |= bit(t);
      }
    }
    wishes.apply_to(sets);
    return !wishes.contradict();
  }

  ComponentId outermost_memory() const {
    for (ComponentId holder : holders_)
      if (problem_.arch[holder].is_memory()) return holder;
    return holders_.front();
  }

  /// What a holder must and may keep below those further out; nothing where constraints leave it no
  /// choice.
  std::optional<KeepSets> keep_sets_of(ComponentId holder, TensorMask seen) const {
    const Result<KeepSets> result = keep_sets(problem_, shape_.einsum, holder, held_);
    SLUICE_CHECK(result.has_value(), "keep sets were checked when the problem was bound");
    KeepSets sets = *result;
    if (!constrain(holder, seen, &sets)) return std::nullopt;
    if (problem_.arch[holder].is_toll()) {
      sets.must &= seen;
      sets.may &= seen;
      if (options_.pruning.redundant_templates && !asked_[holder.index()]) sets.may = 0;
    }
    if (shape_.is_copy) sets.may &= ~seen;
    return sets;
  }

  /// The same without copies that save nothing: each value of a tile that all loops change is read
  /// or written once, with the copy or without.
  std::optional<KeepSets> useful_sets_of(ComponentId holder, TensorMask seen) const {
    auto sets = keep_sets_of(holder, seen);
    if (!sets || !swaps_nodes_ || has_windows_ || !problem_.arch[holder].is_memory() ||
        asked_[holder.index()])
      return sets;
    for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
      if (moving(t) == sets_.all) sets->may &= ~(bit(t) & seen) | sets->must;
    return sets;
  }

  /// Whether these nodes are what holders may keep.
  bool may_keep(const std::vector<Slot>& nodes) {
    TensorMask seen = 0;
    for (const ComponentId holder : holders_) {
      const auto sets = keep_sets_of(holder, seen);
      if (!sets) return false;
      TensorMask& kept = held_[holder.index()];
      for (const Slot& slot : nodes)
        if (slot.component == holder) kept |= bit(slot.tensor);
      if ((sets->must & ~kept) != 0 || (kept & ~(sets->must | sets->may)) != 0) return false;
      seen |= kept;
    }
    return seen == all_tensors();
  }

  void choose_kept(std::size_t index, TensorMask seen) {
    if (index == holders_.size()) {
      if (seen != all_tensors()) return;
      ++n_choices_;
      if (!counts_choices_ && is_taken()) order_slots();
      return;
    }
    if (is_cancelled(limits_.cancel) || (counts_choices_ && n_choices_ > kMostCounted)) return;
    const ComponentId holder = holders_[index];
    const auto allowed = useful_sets_of(holder, seen);
    if (!allowed) return;
    const KeepSets& sets = *allowed;
    for (TensorMask subset = sets.may;; subset = (subset - 1) & sets.may) {
      const TensorMask kept = sets.must | subset;
      if (subset != 0 && !has_room(holder, kept)) continue;
      held_[holder.index()] = kept;
      required_.push_back(sets.must);
      choose_kept(index + 1, seen | kept);
      required_.pop_back();
      if (subset == 0) break;
    }
    held_[holder.index()] = 0;
  }

  /// The first of some tensors, and those of them that copies lead to or from.
  TensorMask relatives_among(TensorMask tensors) const {
    const auto first = static_cast<std::size_t>(std::countr_zero(tensors));
    return tensors & (bit(first) | shape_.tensors[first].relatives);
  }

  /// Whether a memory has room for a value of each of some tensors; of those that are copies of
  /// each other, for the largest.
  bool has_room(ComponentId holder, TensorMask kept) const {
    if (!options_.pruning.redundant_templates || !problem_.arch[holder].is_memory()) return true;
    const BoundComponent& bound = bound_.components[holder.index()];
    double bits = 0;
    for (TensorMask left = kept; left != 0;) {
      const TensorMask alike = relatives_among(left);
      double most = 0;
      for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
        if ((alike & bit(t)) != 0) most = std::max(most, bound.bits_per_value[t]);
      bits += most;
      left &= ~alike;
    }
    return bits <= bound.size_bits;
  }

  /// Whether what a memory keeps depends on what a holder does. Where it does not, a toll that a
  /// tensor need not pass only costs.
  bool is_asked_for(ComponentId asked) const {
    const auto names = [asked](const std::optional<Expression>& expression, const KeepRule& rule) {
      return expression &&
             (rule.table.empty() || std::find(rule.depends_on.begin(), rule.depends_on.end(),
                                              asked) != rule.depends_on.end());
    };
    return std::any_of(holders_.begin(), holders_.end(), [&](ComponentId holder) {
      const TensorPolicy& rules = policy(holder);
      const BoundComponent& bound = bound_.components[holder.index()];
      return names(rules.keep, bound.keep) || names(rules.may_keep, bound.may_keep) ||
             names(rules.back, bound.back);
    });
  }

  TensorMask all_tensors() const {
    return shape_.tensors.size() == 64 ? ~TensorMask{0} : bit(shape_.tensors.size()) - 1;
  }

  void order_slots() {
    std::vector<Slot> outermost, rest;
    TensorMask seen = 0;
    for (std::size_t h = 0; h < holders_.size(); ++h) {
      for (std::size_t t = 0; t < shape_.tensors.size(); ++t) {
        if (!(held_[holders_[h].index()] & bit(t))) continue;
        Slot slot;
        slot.component = holders_[h];
        slot.tensor = static_cast<std::uint32_t>(t);
        slot.backing = !(seen & bit(t));
        if (shape_.is_copy && !slot.backing) continue;
        slot.shared = slot.backing && shape_.tensors[t].shared;
        slot.persistent = slot.backing && shape_.tensors[t].persistent;
        (h == 0 || slot.persistent ? outermost : rest).push_back(slot);
      }
      seen |= held_[holders_[h].index()];
    }
    first_of_choice_ = templates_.size();
    begin_with(std::move(outermost));
    order_rest(&rest);
  }

  /// With these nodes above all loops.
  void begin_with(std::vector<Slot> outermost) {
    ordered_ = SlotGroups{};
    ordered_.group_of.assign(outermost.size(), 0);
    ordered_.slots = std::move(outermost);
    place_ports();
  }

  /// The templates of the nodes as they are ordered now.
  void append_all(const TemplateLimits& limits) {
    const std::size_t first = templates_.size();
    append_templates(problem_, shape_, sets_, options_, constraints_, compute_, ordered_, limits,
                     &templates_);
    for (std::size_t t = first; t < templates_.size(); ++t)
      templates_[t].placement = static_cast<std::uint32_t>(first);
  }

  void place_ports() {
    const auto is_persistent = [](const Slot& slot) { return slot.persistent; };
    const bool holds = !std::all_of(ordered_.slots.begin(), ordered_.slots.end(), is_persistent);
    ordered_.ports = holds && has_ports();
    if (!ordered_.ports) return;
    ordered_.count = 2;
    std::stable_partition(ordered_.slots.begin(), ordered_.slots.end(), is_persistent);
    for (std::size_t s = 0; s < ordered_.slots.size(); ++s)
      ordered_.group_of[s] = ordered_.slots[s].persistent ? 0 : 1;
  }

  /// Whether there are several instances of the outermost memory, and a variable that can be spread
  /// over them: it indexes all that is backed there or further in.
  bool has_ports() const {
    if (fanout_[holders_.front().index()] <= 1) return false;
    for (std::size_t v = 0; v < shape_.sizes.size(); ++v) {
      bool indexes_all = shape_.sizes[v] > 1;
      for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
        if (!shape_.tensors[t].persistent) indexes_all = indexes_all && shape_.relevant(t, v);
      if (indexes_all) return true;
    }
    return false;
  }

  void order_rest(std::vector<Slot>* rest) {
    if (rest->empty()) {
      if (!order_allowed()) return;
      TemplateLimits of_order = limits_;
      of_order.most = most_per_order();
      return append_all(of_order);
    }
    const std::size_t first =
        draws() ? KeyHash::mix(templates_.size() + rest->size() + (limits_.seed << 32U)) : 0;
    for (std::size_t k = 0; k < rest->size(); ++k) {
      const std::size_t i = (first + k) % rest->size();
      const Slot slot = (*rest)[i];
      if (is_full()) return;
      if (!may_come_next(slot, *rest)) continue;
      rest->erase(rest->begin() + static_cast<std::ptrdiff_t>(i));
      ordered_.slots.push_back(slot);
      ordered_.group_of.push_back(ordered_.count++);
      order_rest(rest);
      ordered_.slots.pop_back();
      ordered_.group_of.pop_back();
      --ordered_.count;
      rest->insert(rest->begin() + static_cast<std::ptrdiff_t>(i), slot);
    }
  }

  /// Whether none of `rest` must stand above `slot`.
  bool precedes(const Slot& slot, const std::vector<Slot>& rest) const {
    return std::none_of(rest.begin(), rest.end(), [&](const Slot& other) {
      return path_index(other) < path_index(slot) && must_precede(other, slot, rest);
    });
  }

  bool keeps_order(const std::vector<Slot>& slots) const {
    for (auto slot = slots.begin(); slot != slots.end(); ++slot)
      if (!precedes(*slot, {slot + 1, slots.end()})) return false;
    return true;
  }

  bool may_come_next(const Slot& slot, const std::vector<Slot>& rest) const {
    if (!precedes(slot, rest)) return false;
    if (ordered_.slots.empty()) return true;
    const Slot& last = ordered_.slots.back();
    return !redundant_below(last, slot) && !comes_as_well_before(slot, last, rest);
  }

  /// For `outer` in a holder before `inner`'s. A toll stands as far in as the memories allow, but
  /// above the fanouts between it and inner nodes. Where an inner node stands above one of a memory
  /// before the toll, these have no place.
  bool must_precede(const Slot& outer, const Slot& inner, const std::vector<Slot>& rest) const {
    if (outer.tensor == inner.tensor) return true;
    if (is_toll(outer))
      return std::none_of(rest.begin(), rest.end(), [&](const Slot& memory) {
        return !is_toll(memory) && path_index(memory) < path_index(outer);
      });
    if (!is_toll(inner)) return forces_order(outer) && forces_order(inner);
    const auto filled = std::find_if(rest.begin(), rest.end(), [&](const Slot& slot) {
      return !is_toll(slot) && slot.tensor == inner.tensor;
    });
    return filled == rest.end() || (forces_order(outer) && forces_order(*filled));
  }

  /// Whether constraints may count on a memory's innermost node being this one.
  bool is_counted_on(const Slot& slot) const {
    const auto is_ruled = [&](const TileConstraint& tile) {
      return tile.memory == slot.component && tile.tensors.empty();
    };
    return !constraints_.loop_orders.empty() ||
           std::any_of(constraints_.tiles.begin(), constraints_.tiles.end(), is_ruled);
  }

  /// A tensor held in two memories of one fanout directly below each other: the outer one, if it
  /// is optional, could as well be left out. (A toll holds nothing.)
  bool redundant_below(const Slot& outer, const Slot& inner) const {
    if (!options_.pruning.redundant_templates || outer.tensor != inner.tensor || outer.backing)
      return false;
    if (is_toll(inner) || is_counted_on(outer) || asked_[outer.component.index()]) return false;
    if (fanout_[outer.component.index()] != fanout_[inner.component.index()]) return false;
    // Loops that move its window may stand between the two.
    const std::vector<Relevance>& seen = shape_.tensors[outer.tensor].held;
    if (std::find(seen.begin(), seen.end(), Relevance::kPartial) != seen.end()) return false;
    return !(required_of(outer.component) & bit(outer.tensor));
  }

  /// Whether `slot`, the one of `rest` that is to come next, could as well stand above `last`,
  /// which stands right above it in the same memory or toll: one order of the two is enough.
  bool comes_as_well_before(const Slot& slot, const Slot& last,
                            const std::vector<Slot>& rest) const {
    if (!swaps_nodes_ || last.component != slot.component || last.backing || slot.backing ||
        !policy(slot.component).tensor_order_options.empty())
      return false;
    const bool is_earlier = slot.tensor < last.tensor;
    if (is_toll(slot)) return is_earlier;  // it holds nothing, whatever loops stand between
    const auto is_shared = [](const Slot& other) { return other.shared; };
    if (has_windows_ || std::any_of(rest.begin(), rest.end(), is_shared)) return false;
    // A tile that all loops change needs none of those below it: the node sinks to the last one.
    const Variables above = moving(last.tensor), below = moving(slot.tensor);
    if (above == sets_.all && below != sets_.all) return true;
    return is_earlier && above == below;
  }

  /// Whether it makes no difference which of two nodes of one memory stands above the other where
  /// no loop may stand between them: no constraint counts loops or tiles there, no step costs time
  /// of its own, and no placement is asked for what it can do.
  bool swaps_nodes() const {
    const BoundCompute& compute = bound_.computes[compute_];
    const auto asks = [this](ComponentId id) {
      return asks_for_usage(bound_.components[id.index()]);
    };
    return options_.pruning.redundant_templates && options_.policy == LatencyPolicy::kOverlap &&
           constraints_.tiles.empty() && constraints_.loop_orders.empty() &&
           !waits_by_steps(problem_, compute) && !array_above(problem_, compute) &&
           std::none_of(compute.path.begin(), compute.path.end(), asks);
  }

  /// Variables whose loops move a tensor's whole tile.
  Variables moving(std::size_t tensor) const { return sets_.tensors[tensor].held & sets_.all; }

  /// Whether some loop changes a part of a tile only, or is one over the steps of a recurrence.
  bool has_windows() const {
    return shape_.recurrence.is_member() || sets_.carried != 0 ||
           std::any_of(sets_.tensors.begin(), sets_.tensors.end(), [](const TensorVariables& own) {
             return (own.partial | own.windows | own.parted | own.rows | own.stepped) != 0 ||
                    own.held != own.relevant;
           });
  }

  TensorMask required_of(ComponentId holder) const {
    const auto at = std::find(holders_.begin(), holders_.end(), holder);
    return required_[static_cast<std::size_t>(at - holders_.begin())];
  }

  const TensorPolicy& policy(ComponentId id) const { return *problem_.arch[id].tensor_policy(); }

  bool is_toll(const Slot& slot) const { return problem_.arch[slot.component].is_toll(); }

  bool forces_order(const Slot& slot) const {
    return policy(slot.component).force_memory_hierarchy_order;
  }

  std::size_t path_index(const Slot& slot) const { return slot.component.index(); }

  /// Whether each memory with `tensor_order_options` has its slots in one of these orders.
  bool order_allowed() const {
    for (ComponentId holder : holders_) {
      const auto& options = policy(holder).tensor_order_options;
      if (options.empty()) continue;
      bool any = false;
      for (const std::vector<Expression>& option : options) any = any || follows(holder, option);
      if (!any) return false;
    }
    return true;
  }

  bool follows(ComponentId holder, const std::vector<Expression>& option) const {
    const ExpressionScope scope =
        tensor_set_scope(problem_.workload, problem_.roles, shape_.einsum);
    std::vector<TensorMask> groups;
    for (const Expression& expression : option) {
      const auto value = expression.evaluate(scope);
      SLUICE_CHECK(value.has_value() && std::holds_alternative<NameSet>(*value),
                   "tensor orders were checked when the problem was bound");
      groups.push_back(std::get<NameSet>(*value).bits);
    }
    std::size_t last = 0;
    for (std::size_t s = 0; s < ordered_.slots.size(); ++s) {
      const Slot& slot = ordered_.slots[s];
      // No loop stands between the nodes of the outermost group: they have no order.
      if (slot.component != holder || ordered_.group_of[s] <= (ordered_.ports ? 1 : 0)) continue;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!(groups[g] & bit(slot.tensor))) continue;
        if (g < last) return false;
        last = g;
        break;
      }
    }
    return true;
  }

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const VariableSets sets_;
  const MapperOptions& options_;
  const Constraints& constraints_;
  const BoundEinsum& bound_;
  std::uint32_t compute_;
  const TemplateLimits& limits_;
  static constexpr std::size_t kMostCounted = 50'000;
  /// Each tensor in the first memory that may hold it, and where it must be.
  static constexpr auto kFurthestOut = [](std::size_t, TensorMask seen) { return ~seen; };
  bool counts_choices_ = false;
  std::size_t n_choices_ = 0;      ///< met so far
  std::size_t n_all_choices_ = 0;  ///< where they were counted
  std::size_t first_of_choice_ = 0;
  std::size_t most_per_choice_ = std::numeric_limits<std::size_t>::max();
  std::vector<Template>& templates_;
  std::vector<ComponentId> holders_;
  std::vector<bool> asked_;  ///< per component: what memories keep depends on what it does
  bool swaps_nodes_ = false, has_windows_ = false;
  std::vector<double> fanout_;            // cumulative, per component
  std::vector<TensorMask> held_;          // per component
  std::vector<TensorMask> furthest_out_;  // likewise, where some choices are drawn
  std::vector<TensorMask> required_;      // per holder chosen so far
  SlotGroups ordered_;
};

}  // namespace

bool stops_nodes(const Template& templ, std::size_t loop) {
  const auto passes = [&](const Slot& slot) {
    return slot.gap == templ.loops[loop].gap &&
           slot.loop_above_node() == static_cast<std::int32_t>(loop);
  };
  return !templ.loops[loop].stopped && std::none_of(templ.slots.begin(), templ.slots.end(), passes);
}

bool lets_sink(const Template& templ, const std::vector<std::int64_t>& trips, std::size_t loop) {
  if (!templ.loops[loop].stopped) return false;
  for (std::size_t above = 0; above < loop; ++above)
    if (templ.loops[above].gap == templ.loops[loop].gap && trips[above] > 1 &&
        stops_nodes(templ, above))
      return false;
  return true;
}

bool may_spread_over(const std::vector<Template>& templates, std::uint32_t placement,
                     ComponentId component, std::uint32_t dimension) {
  for (std::size_t t = placement; t < templates.size() && templates[t].placement == placement; ++t)
    for (const LoopPlace& loop : templates[t].loops)
      if (loop.spatial && loop.component == component && loop.dimension == dimension) return true;
  return false;
}

std::vector<Template> enumerate_templates(const BoundProblem& problem, const EinsumShape& shape,
                                          const MapperOptions& options,
                                          const Constraints& constraints,
                                          const TemplateLimits& limits) {
  std::vector<Template> templates;
  for (std::uint32_t c = 0; c < problem[shape.einsum].computes.size(); ++c)
    TemplateEnumerator(problem, shape, options, constraints, c, limits, &templates).run();
  return templates;
}

std::vector<Template> templates_of_nodes(const BoundProblem& problem, const EinsumShape& shape,
                                         const MapperOptions& options, std::uint32_t compute,
                                         const std::vector<Slot>& nodes,
                                         const TemplateLimits& limits) {
  std::vector<Template> templates;
  TemplateEnumerator(problem, shape, options, options.constraints, compute, limits, &templates)
      .run_with(nodes);
  return templates;
}

}  // namespace sluice::fused
