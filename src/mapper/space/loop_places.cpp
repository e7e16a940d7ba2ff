#include "loop_places.h"

#include <algorithm>
#include <optional>
#include <span>

#include "constraint_rules.h"
#include "mapper/common/contains.h"
#include "mapper/common/key_hash.h"
#include "mapper/common/network_cost.h"
#include "mapper/common/spatial_wishes.h"
#include "order_rules.h"

namespace sluice::fused {
namespace {

/// The loop over the steps of a recurrence of several Einsums, where all that they exchange is
/// backed above it: the outermost of all loops.
struct OuterSteps {
  std::uint32_t variable = 0, gap = 0;
};

class LoopPlacer {
 public:
  LoopPlacer(const BoundProblem& problem, const EinsumShape& shape, const VariableSets& sets,
             const MapperOptions& options, const Constraints& constraints, std::uint32_t compute,
             const SlotGroups& groups, std::optional<OuterSteps> outer = std::nullopt,
             bool spreads_over_array = true)
      : problem_(problem),
        shape_(shape),
        sets_(sets),
        options_(options),
        constraints_(constraints),
        tile_rules_(tile_rules(constraints, shape)),
        bound_(problem[shape.einsum]),
        compute_(compute),
        waits_(waits_by_steps(problem, bound_.computes[compute])),
        groups_(groups),
        rules_(order_rules(constraints, shape, groups), shape.sizes.size()),
        outer_(outer),
        spreads_over_array_(spreads_over_array),
        all_(sets.all) {
    group_slots();
    find_fused_gaps();
    find_array();
    if (outer_) rules_.put_first(outer_->variable, outer_->gap, &above_steps_);
    for (std::uint32_t gap = 0; gap < groups_.count; ++gap)
      temporal_.push_back(temporal_variables(gap));
    carried_.resize(groups_.count, 0);
    led_.resize(groups_.count, 0);
    spatial_.resize(groups_.count);
    place_missing();
    if (outer_) forbid_above_steps();
    add_step_rules();
    add_carried_rules();
  }

  void append(const TemplateLimits& limits, std::vector<Template>* templates) {
    limits_ = limits;
    first_ = templates->size();
    draws_ = limits.most < std::numeric_limits<std::size_t>::max();
    random_ = first_ + (limits.seed << 32U);
    choose_steps(0, templates);
    if (!draws_ || templates->size() > first_) return;
    draws_ = false;  // all branches were left out
    choose_steps(0, templates);
  }

  /// Whether it makes a difference that nothing spreads over the array: its gap's temporal loops
  /// then stand above other spatial loops there, which deal out windows of an output otherwise.
  bool may_leave_array() const {
    if (!array_ || array_gap_ < fused_gaps_ || dealt_out(array_gap_) == 0) return false;
    const auto& path = bound_.computes[compute_].path;
    return std::any_of(path.begin(), path.end(), [&](ComponentId component) {
      return component != array_ && spatial_gap(component) == array_gap_ &&
             may_spread(bound_.components[component.index()]);
    });
  }

  /// Where the loop over the steps of a recurrence may stand below all that its Einsums exchange.
  std::vector<OuterSteps> outer_steps() const {
    std::vector<OuterSteps> result;
    if (!shape_.recurrence.is_member()) return result;
    const std::uint32_t first = std::max<std::uint32_t>(fused_gaps_, groups_.ports ? 1 : 0);
    for (std::uint32_t v = 0; v < shape_.sizes.size(); ++v) {
      if ((all_ & bit(v)) == 0 ||
          (shape_.recurrence.step && shape_.variables[v] != *shape_.recurrence.step))
        continue;
      for (std::uint32_t gap = first; gap < groups_.count; ++gap)
        if (!sinks_from(gap, v) && (above_backings(gap) >> v & 1)) result.push_back({v, gap});
    }
    return result;
  }

 private:
  /// In place of the variable of a window's loop: the nodes above the gap, which has no loops,
  /// slide over the loop that those below it slide over.
  static constexpr std::int32_t kWithNext = -2;

  static Variables bit(std::size_t v) { return Variables{1} << v; }

  bool is_full(const std::vector<Template>& templates) const {
    return is_cancelled(limits_.cancel) || templates.size() >= limits_.cap ||
           templates.size() - first_ >= limits_.most;
  }

  /// Where some templates are to be drawn, every other branch is left out by chance.
  bool leaves_out_branch() {
    random_ += 0x9e3779b97f4a7c15ULL;
    return draws_ && (KeyHash::mix(random_) & 1) != 0;
  }

  /// Whether a node right above the gap sinks through a loop over the variable: then the loop
  /// stands a gap further out.
  bool sinks_from(std::uint32_t gap, std::size_t v) const {
    const std::span<const Slot> above = slots_of_group(gap);
    return std::any_of(above.begin(), above.end(), [&](const Slot& slot) {
      return !slot.backing && shape_.sinks(slot.tensor, v);
    });
  }

  /// Whether the gap's loops begin with the one over the steps.
  bool begins_with_steps(std::uint32_t gap) const { return outer_ && outer_->gap == gap; }

  /// What constraints put above the loop over the steps has no loops there.
  void forbid_above_steps() {
    for (const OrderRule& rule : above_steps_)
      for (std::uint32_t gap = rule.first_gap; gap <= rule.last_gap; ++gap)
        for (const std::uint32_t v : rule.variables) temporal_[gap] &= ~bit(v);
  }

  void find_fused_gaps() {
    fused_gaps_ = 0;
    for (std::size_t s = 0; s < groups_.slots.size(); ++s) {
      const Slot& slot = groups_.slots[s];
      if (slot.backing) last_backing_gap_ = std::max(last_backing_gap_, groups_.group_of[s]);
      if (slot.shared) fused_gaps_ = std::max(fused_gaps_, groups_.group_of[s]);
    }
  }

  /// The array above the compute, and the gap in which its loops stand.
  void find_array() {
    const auto array = array_above(problem_, bound_.computes[compute_]);
    if (!array || !may_spread(bound_.components[array->index()])) return;
    array_ = array;
    array_gap_ = spatial_gap(*array);
  }

  static bool may_spread(const BoundComponent& component) {
    return component.enabled && std::any_of(component.spatial.begin(), component.spatial.end(),
                                            [](const BoundSpatial& d) { return d.fanout > 1; });
  }

  /// Whether loops over an array stand in a gap: its temporal loops are the steps of the array's
  /// folds and stand below them. A tensor that other Einsums share inside the array leaves its
  /// loops no place: where they fold it, all of these would have to agree.
  bool has_steps_below_array(std::uint32_t gap) const {
    return array_ && spreads_over_array_ && gap == array_gap_ && gap >= fused_gaps_;
  }

  /// Whether loops that a node would sink through are folds of an array above it, and steps below.
  bool folds(const Slot& slot) const {
    const auto group = groups_.group_of[static_cast<std::size_t>(&slot - groups_.slots.data())];
    return !slot.backing && has_steps_below_array(group);
  }

  void group_slots() {
    first_group_.assign(shape_.tensors.size(), groups_.count);
    first_slot_.assign(groups_.count + 1, 0);
    for (std::size_t s = 0; s < groups_.slots.size(); ++s) {
      const Slot& slot = groups_.slots[s];
      first_slot_[groups_.group_of[s] + 1] = s + 1;
      first_group_[slot.tensor] = std::min(first_group_[slot.tensor], groups_.group_of[s]);
    }
  }

  /// Slots of group `gap` (directly above) or `gap + 1` (directly below).
  std::span<const Slot> slots_of_group(std::uint32_t group) const {
    return std::span(groups_.slots)
        .subspan(first_slot_[group], first_slot_[group + 1] - first_slot_[group]);
  }

  bool seen_above(std::uint32_t gap, std::size_t tensor) const {
    return first_group_[tensor] <= gap;
  }

  const TensorVariables& of(std::size_t tensor) const { return sets_.tensors[tensor]; }
  const TensorVariables& of(const Slot& slot) const { return sets_.tensors[slot.tensor]; }

  /// Variables above whose loops a node may have to stand, wherever it sinks: constraints count it
  /// where it is written, for the least tile there and the order of the loops up to it.
  Variables held_up(const Slot& slot) const {
    Variables result = 0;
    for (const TileRule& rule : tile_rules_)
      if (rule.memory == slot.component && rule.minimum > 1 &&
          (!rule.tensors || (*rule.tensors >> slot.tensor & 1)))
        result |= bit(rule.variable);
    for (const LoopOrderConstraint& order : constraints_.loop_orders)
      if (!order.einsum || *order.einsum == shape_.einsum)
        for (std::size_t v = 0; v < shape_.variables.size(); ++v)
          if (contains(order.order, shape_.variables[v])) result |= bit(v);
    return result;
  }

  /// Variables that move the windows of an output and may be dealt out to instances by a spatial
  /// loop of the gap, or of the next one above its temporal loops: a loop below that one shows an
  /// instance windows next to each other, one above it others, and so more or fewer sums for the
  /// first time.
  Variables dealt_out(std::uint32_t gap) const {
    Variables windows = 0;
    for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
      if (shape_.tensors[t].is_output) windows |= of(t).partial;
    if (windows == 0) return 0;
    const auto& path = bound_.computes[compute_].path;
    const bool spreads = std::any_of(path.begin(), path.end(), [&](ComponentId component) {
      if (problem_.arch[component].spatial.empty()) return false;
      const std::uint32_t at = spatial_gap(component);
      return at == gap || (at == gap + 1 && has_steps_below_array(at));
    });
    return spreads ? windows : 0;
  }

  /// Whether it may pay to keep a node from sinking: loops above it fold an array, or each of its
  /// steps takes time, or each of those of a node further out, which it keeps from sinking.
  bool waits(const Slot& slot) const {
    if (folds(slot)) return true;
    if (!waits_ || slot.backing) return false;
    return std::any_of(groups_.slots.begin(),
                       groups_.slots.begin() + (&slot - groups_.slots.data()) + 1,
                       [this](const Slot& above) { return takes_time_by_steps(above); });
  }

  /// Whether each step of a node takes time on some network between it and the node above it.
  bool takes_time_by_steps(const Slot& slot) const {
    if (slot.backing) return false;
    const Slot* filled_from = nullptr;
    for (const Slot& other : groups_.slots) {
      if (&other == &slot) break;
      if (other.tensor == slot.tensor) filled_from = &other;
    }
    const BoundCompute& compute = bound_.computes[compute_];
    const auto depth = [&](const Slot& at) { return compute.depth[at.component.index()]; };
    return std::any_of(compute.networks.begin(), compute.networks.end(), [&](const auto& path) {
      return depth(*filled_from) < path.depth && path.depth < depth(slot) &&
             sluice::takes_time_by_steps(std::get<Network>(problem_.arch[path.network].kind));
    });
  }

  /// Variables of temporal loops that may stand above all backing nodes below a gap.
  Variables above_backings(std::uint32_t gap) const {
    Variables allowed = all_;
    for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
      if (!seen_above(gap, t)) allowed &= (of(t).relevant & ~of(t).parted) | of(t).rows;
    return allowed;
  }

  /// Whether a state of this Einsum alone is backed below a gap in the loop over its steps: no
  /// other loop may come in between.
  bool keeps_steps(std::uint32_t gap) const {
    if (!outer_ || gap < outer_->gap) return false;
    for (std::size_t t = 0; t < shape_.tensors.size(); ++t)
      if (!seen_above(gap, t) && (of(t).stepped >> outer_->variable & 1)) return true;
    return false;
  }

  /// Temporal loops that may stand in a gap (docs/mappers.md).
  Variables temporal_variables(std::uint32_t gap) const {
    const bool is_fused = gap < fused_gaps_;
    if (is_fused && options_.max_fused_loops == 0) return 0;
    if (groups_.ports && gap == 0) return 0;
    if (keeps_steps(gap)) return 0;
    Variables allowed = above_backings(gap);
    if (outer_) allowed = gap < outer_->gap ? 0 : allowed & ~bit(outer_->variable);
    if (!options_.pruning.redundant_templates) return allowed;
    Variables partial_above = 0, stopping = 0;
    for (const Slot& slot : slots_of_group(gap)) {
      const bool order_matters =
          (is_fused ? options_.max_fused_loops >= 2 : waits(slot)) || begins_with_steps(gap);
      if (!slot.backing && !order_matters) allowed &= ~of(slot).held | held_up(slot);
      if (waits(slot)) stopping |= ~of(slot).held;
      partial_above |= of(slot).windows;
    }
    // Raising a node over a loop would change its tile, and the order of the loops around it.
    const bool may_raise = constraints_.tiles.empty() && constraints_.loop_orders.empty();
    if (is_fused || !may_raise || gap + 1 == groups_.count) return allowed;
    const Variables kept = partial_above | dealt_out(gap) | stopping;
    for (const Slot& slot : slots_of_group(gap + 1)) allowed &= ~of(slot).irrelevant | kept;
    return allowed;
  }

  /// A variable that no unfused gap takes stands right below the last backing node.
  void place_missing() {
    Variables missing = outer_ ? all_ & ~bit(outer_->variable) : all_;
    const std::uint32_t first = outer_ ? outer_->gap : fused_gaps_;
    for (std::uint32_t gap = first; gap < groups_.count; ++gap) missing &= ~temporal_[gap];
    temporal_[std::max(first, last_backing_gap_)] |= missing;
  }

  std::uint32_t spatial_gap(ComponentId component) const {
    std::uint32_t gap = 0;
    for (std::size_t s = 0; s < groups_.slots.size(); ++s)
      if (groups_.slots[s].component < component) gap = std::max(gap, groups_.group_of[s]);
    return gap;
  }

  /// Whether a node of the component, or of one further in, stands above its spatial loops.
  bool stands_too_low(ComponentId component, std::uint32_t gap) const {
    for (std::size_t s = 0; s < groups_.slots.size(); ++s)
      if (groups_.group_of[s] <= gap && !(groups_.slots[s].component < component) &&
          !groups_.slots[s].persistent)
        return true;
    return false;
  }

  Variables spatial_variables(ComponentId component, std::size_t dimension,
                              std::uint32_t gap) const {
    Variables allowed = outer_ ? all_ & ~bit(outer_->variable) : all_;
    allowed &= ~(sets_.carried | sets_.step);
    if (carries_below(gap)) allowed &= ~sets_.summed;
    for (std::size_t t = 0; t < shape_.tensors.size(); ++t) {
      if (!seen_above(gap, t)) allowed &= of(t).relevant & ~of(t).parted & ~of(t).stepped;
      if (bound_.components[component.index()].spatial[dimension].reuse >> t & 1)
        allowed &= of(t).irrelevant;
    }
    for (std::size_t v = 0; v < shape_.variables.size(); ++v)
      if (keeps_off(constraints_, shape_.einsum, component, dimension, shape_.variables[v]))
        allowed &= ~bit(v);
    return allowed;
  }

  // ---- steps of recurrences ------------------------------------------------------------------

  /// The steps of a state stand right above its backing node: what two of them have in common must
  /// stay, so no other loop may come in between.
  void add_step_rules() {
    for (std::size_t s = 0; s < groups_.slots.size(); ++s) {
      const LocalTensor& tensor = shape_.tensors[groups_.slots[s].tensor];
      const std::uint32_t group = groups_.group_of[s];
      if (!groups_.slots[s].backing || !tensor.intermediate || group == 0) continue;
      Variables above = 0;
      for (std::uint32_t gap = 0; gap < group; ++gap) above |= temporal_[gap];
      const Variables steps = of(groups_.slots[s]).stepped & above;
      if (steps == 0) continue;
      step_choices_.push_back({steps, group});
      for (std::uint32_t step = 0; step < shape_.sizes.size(); ++step)
        for (std::uint32_t other = 0; other < shape_.sizes.size(); ++other)
          if ((steps >> step & 1) && (above & ~steps) >> other & 1)
            rules_.add({{other, step}, 0, group - 1});
    }
  }

  /// A step reads all of the step before: what the Einsum sums over stands below the loop over
  /// steps.
  void add_carried_rules() {
    if (sets_.carried == 0) return;
    for (std::uint32_t step = 0; step < shape_.sizes.size(); ++step)
      for (std::uint32_t summed = 0; summed < shape_.sizes.size(); ++summed)
        if ((sets_.carried >> step & sets_.summed >> summed & 1) &&
            (all_ >> step & all_ >> summed & 1) && !(outer_ && outer_->variable == step))
          rules_.add({{step, summed}, 0, groups_.count - 1, true});
  }

  /// Whether a loop that an Einsum carries something along may stand below a gap.
  bool carries_below(std::uint32_t gap) const {
    for (std::uint32_t below = gap + 1; below < groups_.count; ++below)
      if ((sets_.carried & temporal_[below]) != 0) return true;
    return false;
  }

  /// Of several variables that step through one state only one may do so above its backing node.
  void choose_steps(std::size_t choice, std::vector<Template>* templates) {
    if (choice == step_choices_.size()) {
      apply_rules(0, templates);
      return;
    }
    const auto [steps, group] = step_choices_[choice];
    const std::vector<Variables> saved = temporal_;
    for (std::size_t step = 0; step < shape_.sizes.size(); ++step) {
      if (!(steps >> step & 1)) continue;
      for (std::uint32_t gap = 0; gap < group; ++gap) temporal_[gap] &= ~(steps & ~bit(step));
      choose_steps(choice + 1, templates);
      temporal_ = saved;
    }
  }

  // ---- constrained loop orders ---------------------------------------------------------------

  void apply_rules(std::size_t rule, std::vector<Template>* templates) {
    if (rule == rules_.size())
      choose_sliding(0, std::nullopt, templates);
    else
      cut(rule, 0, rules_[rule].first_gap, templates);
  }

  /// Gives each variable of a rule the gaps from `low` to some gap from which on the next one's
  /// begin.
  void cut(std::size_t rule, std::size_t position, std::uint32_t low,
           std::vector<Template>* templates) {
    const OrderRule& order = rules_[rule];
    if (position == order.variables.size()) {
      apply_rules(rule + 1, templates);
      return;
    }
    const bool last = position + 1 == order.variables.size();
    const std::vector<Variables> saved = temporal_;
    for (std::uint32_t high = last ? order.last_gap : low; high <= order.last_gap; ++high) {
      for (std::uint32_t gap = order.first_gap; gap <= order.last_gap; ++gap)
        if (gap < low || gap > high) temporal_[gap] &= ~bit(order.variables[position]);
      cut(rule, position + 1, high, templates);
      temporal_ = saved;
    }
  }

  /// Recurses over the gaps: below a non-backing node each partially relevant loop in turn is
  /// the one that a sliding window passes. A window in a double buffer may take more room, twice,
  /// than the whole range: there a node that passes none is tried too. `together`: the loops that
  /// the nodes right above this one slide over with it.
  void choose_sliding(std::uint32_t gap, std::optional<Variables> together,
                      std::vector<Template>* templates) {
    if (is_full(*templates)) return;
    if (gap == groups_.count) {
      if (std::optional<Template> built = build())
        rules_.append_blocks(temporal_, std::move(*built), templates);
      return;
    }
    Variables candidates = 0;
    const std::span<const Slot> above = slots_of_group(gap);
    if (gap > 0 && !above.front().backing)
      candidates = of(above.front()).windows &
                   (begins_with_steps(gap) ? bit(outer_->variable) : temporal_[gap]);
    const bool may_stay =
        candidates != 0 &&
        (is_double_buffered(problem_.arch[above.front().component]) || has_steps_below_array(gap));
    if (!together && (candidates == 0 || rules_.cover(gap) || may_stay))
      choose_leader(-1, gap, templates);
    else if (!together && gap < fused_gaps_ && options_.max_fused_loops >= 2)
      choose_other_leader(candidates, gap, templates);
    for (std::size_t v = 0; v < shape_.sizes.size(); ++v)
      if ((candidates & together.value_or(candidates)) >> v & 1 &&
          rules_.may_come_first(gap, v, temporal_[gap]))
        slide_over(static_cast<std::uint32_t>(v), gap, templates);
    slide_together(gap, together, templates);
  }

  /// The loop is written above the nodes that slide over it, at the end of the gaps there.
  void slide_over(std::uint32_t variable, std::uint32_t gap, std::vector<Template>* templates) {
    const auto choose = [&] { choose_leader(static_cast<std::int32_t>(variable), gap, templates); };
    if (rules_.size() == 0) return choose();
    const std::vector<Variables> saved = temporal_;
    std::uint32_t first = gap;
    for (std::size_t n = sliding_.size(); n-- > 0 && sliding_[n] == kWithNext;) --first;
    for (std::uint32_t node = first; node <= gap; ++node)
      rules_.end_with(variable, node, &temporal_);
    choose();
    temporal_ = saved;
  }

  /// Other Einsums may want another loop above the window's, which then stays below the node.
  void choose_other_leader(Variables windows, std::uint32_t gap, std::vector<Template>* templates) {
    if (options_.pruning.redundant_templates) led_[gap] = windows;
    choose_leader(-1, gap, templates);
    led_[gap] = 0;
  }

  /// Nodes of several groups with no loop in between may slide over one loop, the first below the
  /// last of them, or sink through it. Loops that have no place between them may stand below it.
  void slide_together(std::uint32_t gap, std::optional<Variables> together,
                      std::vector<Template>* templates) {
    if (gap == 0 || gap + 1 == groups_.count || begins_with_steps(gap) || rules_.cover(gap) ||
        rules_.cover(gap + 1))
      return;
    const Slot &outer = slots_of_group(gap).front(), &inner = slots_of_group(gap + 1).front();
    if (outer.backing || inner.backing) return;
    const Variables both = passed_by(outer, inner, gap) & passed_by(inner, outer, gap);
    const Variables common = both & together.value_or(both);
    if (common == 0) return;
    const std::vector<Variables> saved = temporal_, saved_carried = carried_;
    carried_[gap + 1] = (temporal_[gap] | carried_[gap]) & ~of(outer).held;
    temporal_[gap + 1] |= carried_[gap + 1];
    temporal_[gap] = 0;
    sliding_.push_back(kWithNext);
    leaders_.push_back(std::nullopt);
    choose_sliding(gap + 1, common, templates);
    leaders_.pop_back();
    sliding_.pop_back();
    temporal_ = saved;
    carried_ = saved_carried;
  }

  bool is_toll(const Slot& slot) const { return problem_.arch[slot.component].is_toll(); }

  /// Variables over which a node may slide, or through whose loops it sinks. Of two nodes of one
  /// memory, the one that sinks stands first; fused loops stop it. A toll holds nothing, and goes
  /// with the others.
  Variables passed_by(const Slot& slot, const Slot& other, std::uint32_t gap) const {
    if (is_toll(slot)) return all_;
    const Variables slides = of(slot).windows;
    const bool is_second = slot.component == other.component && &other < &slot;
    if (gap + 1 < fused_gaps_ || is_second) return slides;
    return slides | of(slot).held;
  }

  /// A loop over what is fully relevant to the node above its gap belongs above that node, unless
  /// another one, which must stay above it, stands right below the node. Either none of these late
  /// loops is there, or each other loop of the gap leads them in turn.
  void choose_leader(std::int32_t sliding, std::uint32_t gap, std::vector<Template>* templates) {
    const Variables temporal = temporal_[gap];
    const Variables late = late_in(gap) & (sliding < 0 ? ~Variables{0} : ~bit(sliding));
    const auto lead = [&](std::optional<LoopPlace> leader) {
      if (leaves_out_branch()) return;
      sliding_.push_back(sliding);
      leaders_.push_back(leader);
      choose_sliding(gap + 1, std::nullopt, templates);
      leaders_.pop_back();
      sliding_.pop_back();
    };
    temporal_[gap] &= ~late;
    if (led_[gap] == 0) lead(std::nullopt);
    temporal_[gap] = temporal;
    if (late == 0) return;
    for (std::size_t v = 0; v < shape_.sizes.size(); ++v)
      if ((temporal & ~late) >> v & 1)
        lead(LoopPlace{.variable = static_cast<std::uint32_t>(v), .gap = gap});
    const std::vector<LoopPlace> leaders = spatial_places(gap);
    for (const LoopPlace& leader : leaders) {
      temporal_[gap] &= ~bit(leader.variable);  // which would stand above it
      if ((temporal_[gap] & late) != 0) lead(leader);
      temporal_[gap] = temporal;
    }
  }

  std::optional<Template> build() {
    Template result;
    result.items.reserve(n_items_);
    result.loops.reserve(n_items_);
    result.compute = compute_;
    result.ports = groups_.ports;
    result.slots = groups_.slots;
    for (std::size_t s = 0; s < result.slots.size(); ++s) result.slots[s].gap = groups_.group_of[s];
    for (std::uint32_t gap = 0; gap < groups_.count; ++gap) {
      for (std::size_t s = 0; s < groups_.slots.size(); ++s)
        if (groups_.group_of[s] == gap)
          result.items.push_back({false, static_cast<std::uint32_t>(s)});
      if (!add_loops(gap, &result)) return std::nullopt;
    }
    n_items_ = result.items.size();
    return result;
  }

  bool add_loops(std::uint32_t gap, Template* result) {
    if (sliding_[gap] == kWithNext) return true;
    std::vector<LoopPlace>& places = places_;
    place_temporal(gap, &places);
    if (!rules_.sort(gap, temporal_[gap], &places)) return false;
    if (begins_with_steps(gap))
      places.insert(places.begin(), {.variable = outer_->variable, .gap = gap, .steps = true});
    const std::vector<LoopPlace>& spatial = spatial_places(gap);
    const std::ptrdiff_t n_folds = sliding_[gap] >= 0 || begins_with_steps(gap) ? 1 : 0;
    places.insert(has_steps_below_array(gap) ? places.begin() + n_folds : places.end(),
                  spatial.begin(), spatial.end());
    lead(gap, &places);
    for (LoopPlace& place : places) {
      if (!place.spatial && static_cast<std::int32_t>(place.variable) == sliding_[gap])
        pass(gap, static_cast<std::int32_t>(result->loops.size()), place.variable, result);
      place.fused = place.gap < fused_gaps_ || place.steps;
      result->items.push_back({true, static_cast<std::uint32_t>(result->loops.size())});
      result->loops.push_back(place);
    }
    return true;
  }

  /// The nodes that slide over a loop of this gap, and those that sink through it with them.
  void pass(std::uint32_t gap, std::int32_t loop, std::uint32_t variable, Template* result) const {
    for (std::size_t s = 0; s < groups_.slots.size(); ++s) {
      if (!slides_in(groups_.group_of[s], gap)) continue;
      Slot& slot = result->slots[s];
      const bool slides = !is_toll(slot) && (of(slot).windows >> variable & 1);
      (slides ? slot.sliding_loop : slot.sunk_loop) = loop;
    }
  }

  /// Whether the nodes of a group slide over the window's loop of a gap: right below them, or below
  /// others that slide with them.
  bool slides_in(std::uint32_t group, std::uint32_t gap) const {
    while (group < gap && sliding_[group] == kWithNext) ++group;
    return group == gap;
  }

  /// Marks the leader among the loops of its gap and puts it first, or right after a window's loop
  /// (which is not there where something else leads).
  void lead(std::uint32_t gap, std::vector<LoopPlace>* places) const {
    const std::optional<LoopPlace>& leader = leaders_[gap];
    if (!leader) return;
    const auto at = std::find_if(places->begin(), places->end(), [&](const LoopPlace& place) {
      return place.variable == leader->variable && place.spatial == leader->spatial &&
             place.component == leader->component && place.dimension == leader->dimension;
    });
    at->leads = true;
    const auto first = places->begin() + (sliding_[gap] >= 0 ? 1 : 0);
    if (first < at) std::rotate(first, at, at + 1);
  }

  /// The temporal loops of a gap: a window's first, those that hand on rows last.
  void place_temporal(std::uint32_t gap, std::vector<LoopPlace>* places) const {
    const std::int32_t first = sliding_[gap];
    places->clear();
    if (first >= 0 && !begins_with_steps(gap))
      places->push_back({.variable = static_cast<std::uint32_t>(first), .gap = gap});
    const Variables late = late_in(gap), stopped = stopped_in(gap), rows = rows_in(gap);
    for (const bool is_row : {false, true})
      for (const bool is_last : {false, true})
        for (std::uint32_t v = 0; v < shape_.sizes.size(); ++v)
          if ((temporal_[gap] >> v & 1) && static_cast<std::int32_t>(v) != first &&
              ((late | stopped) >> v & 1) == is_last && (rows >> v & 1) == is_row)
            places->push_back({.variable = v,
                               .gap = gap,
                               .late = (late >> v & 1) != 0,
                               .stopped = (stopped >> v & 1) != 0,
                               .block = is_row});
  }

  /// Temporal loops of an unfused gap that belong above the node above it, unless another loop of
  /// the gap is in between, which it may pay to have there. A node that slides does not sink on.
  Variables stopped_in(std::uint32_t gap) const {
    Variables result = 0;
    if (gap < fused_gaps_) return result;
    for (const Slot& slot : slots_of_group(gap))
      if (waits(slot) && !slides_over(slot, sliding_[gap]))
        result |= of(slot).held & ~held_up(slot);
    return result;
  }

  bool slides_over(const Slot& slot, std::int32_t variable) const {
    return variable >= 0 && !slot.backing && (of(slot).windows >> variable & 1) != 0;
  }

  /// Loops that carry rows of some tensor backed further in from step to step: no other loop of the
  /// gap stands below.
  Variables rows_in(std::uint32_t gap) const {
    Variables result = 0;
    for (std::size_t s = 0; s < groups_.slots.size(); ++s)
      if (groups_.slots[s].backing && groups_.group_of[s] > gap)
        result |= of(groups_.slots[s]).carried_rows;
    return result;
  }

  /// Temporal loops of a fused gap that belong above the non-backing node above it.
  Variables late_in(std::uint32_t gap) const {
    Variables result = 0, up = 0;
    if (gap >= fused_gaps_ || !options_.pruning.redundant_templates) return result;
    for (const Slot& slot : slots_of_group(gap)) {
      if (!slot.backing) result |= of(slot).held;
      up |= held_up(slot);
    }
    return (result | led_[gap]) & temporal_[gap] & ~carried_[gap] & ~up;
  }

  /// They depend on the temporal loops only where something is carried along.
  const std::vector<LoopPlace>& spatial_places(std::uint32_t gap) {
    std::optional<std::vector<LoopPlace>>& places = spatial_[gap];
    if (!places || sets_.carried != 0) places = find_spatial_places(gap);
    return *places;
  }

  std::vector<LoopPlace> find_spatial_places(std::uint32_t gap) const {
    std::vector<LoopPlace> places;
    if (outer_ && gap < outer_->gap) return places;
    for (ComponentId component : bound_.computes[compute_].path) {
      const auto& dimensions = problem_.arch[component].spatial;
      if (dimensions.empty() || !bound_.components[component.index()].enabled ||
          spatial_gap(component) != gap || stands_too_low(component, gap) ||
          (component == array_ && (!spreads_over_array_ || array_gap_ < fused_gaps_)))
        continue;
      for (std::uint32_t d = 0; d < dimensions.size(); ++d) {
        if (dimensions[d].fanout <= 1) continue;
        const Variables allowed = spatial_variables(component, d, gap);
        for (std::uint32_t v = 0; v < shape_.sizes.size(); ++v)
          if (allowed >> v & 1)
            places.push_back({.variable = v,
                              .gap = gap,
                              .spatial = true,
                              .component = component,
                              .dimension = d});
      }
    }
    return places;
  }

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const VariableSets& sets_;
  const MapperOptions& options_;
  const Constraints& constraints_;
  const std::vector<TileRule> tile_rules_;
  const BoundEinsum& bound_;
  std::uint32_t compute_;
  const bool waits_;  ///< some network's routers take time
  const SlotGroups& groups_;
  TemplateLimits limits_;
  std::size_t first_ = 0;     ///< template of these slots
  bool draws_ = false;        ///< some templates only
  std::uint64_t random_ = 0;  ///< where they are drawn
  OrderRules rules_;
  std::optional<OuterSteps> outer_;
  const bool spreads_over_array_;
  std::optional<ComponentId> array_;  ///< a systolic one on the way to the compute
  std::uint32_t array_gap_ = 0;
  std::vector<OrderRule> above_steps_;
  struct StepChoice {
    Variables steps;
    std::uint32_t group;  // of the backing node
  };
  std::vector<StepChoice> step_choices_;
  Variables all_;
  std::vector<std::size_t> first_slot_;     ///< per group, and after the last one
  std::vector<std::uint32_t> first_group_;  ///< per tensor: the first group that holds it
  std::uint32_t fused_gaps_ = 0;  // gaps below this number stand above a shared backing node
  std::uint32_t last_backing_gap_ = 0;
  std::vector<Variables> temporal_;    // per gap
  std::vector<Variables> carried_;     // per gap: has no place in the gaps above it
  std::vector<Variables> led_;         // per gap: windows below another loop of it
  std::vector<std::int32_t> sliding_;  // per gap: variable of the window's loop, or -1
  std::vector<std::optional<std::vector<LoopPlace>>> spatial_;  // per gap, where they are known
  std::vector<LoopPlace> places_;                               // of the gap that is built
  std::size_t n_items_ = 0;                                     // of the template before
  std::vector<std::optional<LoopPlace>> leaders_;  // per gap: of its late loops, if there are any
};

}  // namespace

void append_templates(const BoundProblem& problem, const EinsumShape& shape,
                      const VariableSets& sets, const MapperOptions& options,
                      const Constraints& constraints, std::uint32_t compute,
                      const SlotGroups& groups, const TemplateLimits& limits,
                      std::vector<Template>* templates) {
  LoopPlacer placer(problem, shape, sets, options, constraints, compute, groups);
  placer.append(limits, templates);
  if (placer.may_leave_array())
    LoopPlacer(problem, shape, sets, options, constraints, compute, groups, std::nullopt, false)
        .append(limits, templates);
  for (const OuterSteps& steps : placer.outer_steps())
    LoopPlacer(problem, shape, sets, options, constraints, compute, groups, steps)
        .append(limits, templates);
}

}  // namespace sluice::fused
