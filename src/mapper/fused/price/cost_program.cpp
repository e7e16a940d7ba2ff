#include "cost_program.h"

#include <algorithm>
#include <cmath>

#include "sluice/model/used_components.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Counts of one action of one component, over all instances and of the busiest one.
struct ActionRows {
  Row total;
  Row busiest;
};

class Compiler {
 public:
  Compiler(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
           const std::vector<VariableClass>& classes, const std::vector<TrackedMemory>& tracked,
           const std::vector<bool>& unlimited)
      : problem_(problem),
        shape_(shape),
        templ_(templ),
        classes_(classes),
        tracked_(tracked),
        unlimited_(unlimited),
        bound_(problem[shape.einsum]),
        compute_(bound_.computes[templ.compute]),
        used_(problem.arch.components.size()) {
    actions_.resize(problem.arch.components.size());
    for (std::size_t c = 0; c < actions_.size(); ++c)
      actions_[c].resize(problem.arch.components[c].actions.size());
    for (const Slot& slot : templ.slots)
      if (slot.shared) last_fused_gap_ = std::max(last_fused_gap_, slot.gap);
    for (const LoopPlace& loop : templ.loops)
      if (loop.steps) last_fused_gap_ = std::max(last_fused_gap_, loop.gap);
    find_used();
  }

  CostProgram run() {
    if (shape_.is_copy) {
      count_copy();
    } else {
      for (std::uint32_t a = 0; a < bound_.accesses.size(); ++a) count_access(a);
      count_compute();
    }
    add_energy();
    add_latency();
    add_occupancy();
    add_fanout_limits();
    return std::move(program_);
  }

 private:
  // ---- masks -------------------------------------------------------------------------------
  template <class Predicate>
  LoopSet mask(const Predicate& take) const {
    LoopSet result;
    for (const VariableClass& cls : classes_)
      for (const ClassLoop& loop : cls.loops)
        if (take(loop)) result.add(loop.number);
    return result;
  }

  LoopSet temporal_above(std::uint32_t gap) const {
    return mask([&](const ClassLoop& l) { return !l.spatial && l.gap < gap; });
  }
  LoopSet relevant_temporal_above(std::uint32_t access, std::uint32_t gap) const {
    return mask([&](const ClassLoop& l) {
      return !l.spatial && l.gap < gap &&
             bound_.accesses[access].relevance[l.variable] == Relevance::kRelevant;
    });
  }
  /// Loops above a gap whose steps show an instance parts of an output that overlap.
  LoopSet windows_above(std::uint32_t access, std::uint32_t gap) const {
    if (!bound_.accesses[access].is_output) return {};
    return mask([&](const ClassLoop& l) {
      return !l.spatial && l.gap < gap &&
             bound_.accesses[access].relevance[l.variable] == Relevance::kPartial;
    });
  }
  LoopSet spatial_between(std::uint32_t outer, std::uint32_t inner) const {
    return mask([&](const ClassLoop& l) { return l.spatial && outer <= l.gap && l.gap < inner; });
  }
  /// Spatial loops between two gaps whose instances are served one by one.
  LoopSet unshared_between(std::uint32_t access, std::uint32_t outer, std::uint32_t inner) const {
    return mask([&](const ClassLoop& l) {
      if (!l.spatial || l.gap < outer || l.gap >= inner) return false;
      const BoundSpatial& s = bound_.components[l.component.index()].spatial[l.dimension];
      const BoundAccess& moved = bound_.accesses[access];
      return moved.relevance[l.variable] != Relevance::kIrrelevant ||
             !(s.may_reuse >> moved.tensor & 1);
    });
  }

  // ---- rows --------------------------------------------------------------------------------
  std::uint32_t monomial(std::int32_t slot, std::uint32_t access, const LoopSet& loops,
                         const LoopSet& extra = {}, bool still = false,
                         const LoopSet& united = {}) {
    const bool any_access = slot < 0 && united.empty();
    const Monomial wanted{slot, any_access ? 0 : access, extra, loops, united, still};
    const auto at = std::find(program_.monomials.begin(), program_.monomials.end(), wanted);
    if (at != program_.monomials.end())
      return static_cast<std::uint32_t>(at - program_.monomials.begin());
    program_.monomials.push_back(wanted);
    return static_cast<std::uint32_t>(program_.monomials.size() - 1);
  }

  static void add(Row* row, std::uint32_t monomial, double coefficient) {
    if (coefficient == 0) return;
    for (RowTerm& term : row->terms) {
      if (term.monomial != monomial) continue;
      term.coefficient += coefficient;
      return;
    }
    row->terms.push_back({monomial, coefficient});
  }

  static void add(Row* row, const Row& other, double factor) {
    if (factor == 0) return;
    row->constant += other.constant * factor;
    for (const RowTerm& term : other.terms) add(row, term.monomial, term.coefficient * factor);
  }

  /// The rows of `name` on a component, or null where it has no such action.
  ActionRows* action(ComponentId component, const char* name) {
    const std::vector<Action>& actions = problem_.arch[component].actions;
    for (std::size_t a = 0; a < actions.size(); ++a)
      if (actions[a].name == name) return &actions_[component.index()][a];
    return nullptr;
  }

  /// Actions that one value of a tensor takes.
  double actions_per_value(ComponentId component, std::uint32_t tensor, const char* name) const {
    const double bits = bound_.components[component.index()].bits_per_value[tensor];
    for (const Action& a : problem_.arch[component].actions)
      if (a.name == name) return bits / bits_moved_by(a, bits);
    return 0;
  }

  void count(ComponentId component, const char* name, std::uint32_t access, std::int32_t slot,
             const LoopSet& total, const LoopSet& busiest, double sign,
             const LoopSet& united = {}) {
    count(component, name, access, static_cast<std::uint32_t>(bound_.accesses[access].tensor), slot,
          total, busiest, sign, united);
  }

  /// Counts the values of one tensor's tile in the width of another (a copy's other side).
  void count(ComponentId component, const char* name, std::uint32_t access, std::uint32_t tensor,
             std::int32_t slot, const LoopSet& total, const LoopSet& busiest, double sign,
             const LoopSet& united = {}) {
    ActionRows* rows = action(component, name);
    if (rows == nullptr) return;
    double per_value = sign * actions_per_value(component, tensor, name);
    if (slot >= 0) {
      per_value *= extent_without_loops(bound_.accesses[access], false);
    } else {  // the compute: more than one value where two slices of a state are read
      for (const BoundIndex& index : bound_.accesses[access].index)
        per_value *= 1 + static_cast<double>(index.slack);
    }
    add(&rows->total, monomial(slot, access, total, {}, false, united), per_value);
    add(&rows->busiest, monomial(slot, access, busiest, {}, false, united), per_value);
  }

  /// Extents of the indices that no variable of several values moves: no class knows them.
  double extent_without_loops(const BoundAccess& access, bool whole) const {
    double extent = 1;
    for (const BoundIndex& index : access.index) {
      const bool moves =
          std::any_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
            return shape_.sizes[static_cast<std::size_t>(term.variable)] > 1;
          });
      if (!moves) extent *= static_cast<double>(whole ? index.whole : 1 + index.slack);
    }
    return extent;
  }

  // ---- traffic -----------------------------------------------------------------------------
  /// One edge of a tensor's chain: from `parent` to `child` (a slot, or -1: the compute).
  struct Edge {
    const Slot* parent;
    std::int32_t child;
    std::uint32_t child_gap;
  };

  std::uint32_t leaf_gap() const {
    std::uint32_t gap = 0;
    for (const Slot& slot : templ_.slots) gap = std::max(gap, slot.gap);
    return gap + 1;
  }

  void count_access(std::uint32_t access) {
    const auto tensor = static_cast<std::uint32_t>(bound_.accesses[access].tensor);
    const Slot* parent = nullptr;
    for (std::size_t s = 0; s < templ_.slots.size(); ++s) {
      const Slot& slot = templ_.slots[s];
      if (slot.tensor != tensor) continue;
      if (problem_.arch[slot.component].is_toll()) continue;
      if (parent != nullptr) count_edge({parent, static_cast<std::int32_t>(s), slot.gap}, access);
      parent = &slot;
    }
    SLUICE_CHECK(parent != nullptr, "a template lacks a tensor");
    count_edge({parent, -1, leaf_gap()}, access);
    count_tolls(access);
  }

  void count_edge(const Edge& edge, std::uint32_t access) {
    const LoopSet steps = temporal_above(edge.child_gap);
    const LoopSet skipped = relevant_temporal_above(access, edge.child_gap);
    const LoopSet above = spatial_between(0, edge.parent->gap);
    const LoopSet served = unshared_between(access, edge.parent->gap, edge.child_gap);
    const LoopSet copies = spatial_between(0, edge.child_gap);
    const ComponentId parent = edge.parent->component;
    const bool has_child = edge.child >= 0;
    const ComponentId child =
        has_child ? templ_.slots[static_cast<std::size_t>(edge.child)].component : parent;
    const std::int32_t volume = edge.child;

    count(parent, "read", access, volume, steps | above | served, steps | served, 1);
    if (has_child) count(child, "write", access, volume, steps | copies, steps, 1);
    if (!bound_.accesses[access].is_output) return;
    count(parent, "write", access, volume, steps | above | served, steps | served, 1);
    const Memory* memory = std::get_if<Memory>(&problem_.arch[child].kind);
    if (has_child && memory != nullptr && memory->draining_reads == DrainingReads::kCounted)
      count(child, "read", access, volume, steps | copies, steps, 1);
    // The first read of each value of an output is skipped.
    const LoopSet united = windows_above(access, edge.child_gap);
    count(parent, "read", access, volume, skipped | above | served, skipped | served, -1, united);
    if (has_child) count(child, "write", access, volume, skipped | copies, skipped, -1, united);
    count_merges(edge, access, skipped, above, served);
  }

  /// Reads that add up the partial sums of several instances, where the parent prices them.
  void count_merges(const Edge& edge, std::uint32_t access, const LoopSet& skipped,
                    const LoopSet& above, const LoopSet& served) {
    const ComponentId parent = edge.parent->component;
    const Component& component = problem_.arch[parent];
    if (!component.is_memory() ||
        std::get<Memory>(component.kind).merging_reads != MergingReads::kCounted)
      return;
    const auto between = [&](Relevance relevance) {
      return mask([&](const ClassLoop& l) {
        return l.spatial && edge.parent->gap <= l.gap && l.gap < edge.child_gap &&
               bound_.accesses[access].relevance[l.variable] == relevance;
      });
    };
    const LoopSet merged = between(Relevance::kRelevant);
    const LoopSet united = windows_above(access, edge.child_gap);
    count(parent, "read", access, edge.child, skipped | above | served, skipped | served, 1,
          united);
    count(parent, "read", access, edge.child, skipped | above | merged, skipped | merged, -1,
          united | between(Relevance::kPartial));
  }

  /// A toll charges a `read` for every value that passes it in its directions.
  void count_tolls(std::uint32_t access) {
    const auto tensor = static_cast<std::uint32_t>(bound_.accesses[access].tensor);
    for (const Slot& toll : templ_.slots) {
      if (toll.tensor != tensor || !problem_.arch[toll.component].is_toll()) continue;
      std::int32_t below = -1;
      std::uint32_t gap = leaf_gap();
      for (std::size_t s = 0; s < templ_.slots.size(); ++s) {
        const Slot& slot = templ_.slots[s];
        if (slot.tensor != tensor || slot.gap <= toll.gap ||
            problem_.arch[slot.component].is_toll())
          continue;
        if (below >= 0) continue;
        below = static_cast<std::int32_t>(s);
        gap = slot.gap;
      }
      const auto direction = std::get<Toll>(problem_.arch[toll.component].kind).direction;
      const LoopSet steps = temporal_above(gap);
      const LoopSet skipped = relevant_temporal_above(access, gap);
      const LoopSet above = spatial_between(0, toll.gap);
      const LoopSet served = unshared_between(access, toll.gap, gap);
      const bool is_output = bound_.accesses[access].is_output;
      if (direction != Toll::Direction::kUp) {
        count(toll.component, "read", access, below, steps | above | served, steps | served, 1);
        if (is_output)
          count(toll.component, "read", access, below, skipped | above | served, skipped | served,
                -1, windows_above(access, gap));
      }
      if (is_output && direction != Toll::Direction::kDown)
        count(toll.component, "read", access, below, steps | above | served, steps | served, 1);
    }
  }

  void count_compute() {
    const LoopSet all = temporal_above(leaf_gap()) | spatial_between(0, leaf_gap());
    const LoopSet steps = temporal_above(leaf_gap());
    for (const auto& [action_index, calls] : compute_.calls_per_point) {
      ActionRows& rows = actions_[compute_.component.index()][action_index];
      add(&rows.total, monomial(-1, 0, all), static_cast<double>(calls));
      add(&rows.busiest, monomial(-1, 0, steps), static_cast<double>(calls));
    }
  }

  /// A copy moves each value once from the input's backing memory to the output's.
  void count_copy() {
    std::int32_t source = -1, target = -1;
    for (std::size_t s = 0; s < templ_.slots.size(); ++s) {
      const LocalTensor& tensor = shape_.tensors[templ_.slots[s].tensor];
      (tensor.is_output ? target : source) = static_cast<std::int32_t>(s);
    }
    if (source < 0 || target < 0) return;
    const Slot& from = templ_.slots[static_cast<std::size_t>(source)];
    const Slot& to = templ_.slots[static_cast<std::size_t>(target)];
    if (from.component == to.component) return;
    const std::int32_t lower = from.gap >= to.gap ? source : target;
    const std::uint32_t gap = templ_.slots[static_cast<std::size_t>(lower)].gap;
    const std::uint32_t access = access_of(templ_.slots[static_cast<std::size_t>(lower)].tensor);
    const LoopSet steps = temporal_above(gap), copies = spatial_between(0, gap);
    // The outer memory serves every instance below it; the inner one only itself.
    const LoopSet served = steps | spatial_between(std::min(from.gap, to.gap), gap);
    count(from.component, "read", access, from.tensor, lower, steps | copies,
          lower == source ? steps : served, 1);
    count(to.component, "write", access, to.tensor, lower, steps | copies,
          lower == target ? steps : served, 1);
  }

  std::uint32_t access_of(std::uint32_t tensor) const {
    for (std::uint32_t a = 0; a < bound_.accesses.size(); ++a)
      if (bound_.accesses[a].tensor == static_cast<int>(tensor)) return a;
    SLUICE_CHECK(false, "a tensor is moved by no access");
  }

  // ---- energy and latency ------------------------------------------------------------------
  void add_energy() {
    for (std::size_t c = 0; c < actions_.size(); ++c)
      for (std::size_t a = 0; a < actions_[c].size(); ++a)
        add(&program_.energy, actions_[c][a].total,
            problem_.arch.components[c].actions[a].energy_j * shape_.multiplicity);
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      const Component& component = problem_.arch.components[c];
      if (used_.leaks(component, c))
        program_.leak_w += component.leak_power_w * bound_.components[c].instances;
    }
  }

  void find_used() {
    for (const Slot& slot : templ_.slots) used_.add(slot.component);
    for (const PathNetwork& network : compute_.networks)
      if (is_crossed(network.network)) used_.add(network.network);
    used_.add(compute_.component);
  }

  /// Some tensor comes from further out; of a copy, the other one lies further in.
  bool is_crossed(ComponentId network) const {
    bool outside = false, inside = !shape_.is_copy;
    for (const Slot& slot : templ_.slots) (slot.component < network ? outside : inside) = true;
    return outside && inside;
  }

  void add_latency() {
    for (std::size_t c = 0; c < actions_.size(); ++c) {
      if (!used_[c]) continue;
      const Component& component = problem_.arch.components[c];
      if (!component.total_latency) {
        add_action_latencies(c);
        continue;
      }
      const auto& forms = bound_.components[c].latency_rows;
      if (!forms) {
        program_.monotone = false;
        continue;
      }
      for (const std::vector<double>& form : *forms) add_latency_row(c, form);
    }
  }

  /// Actions share a component's time, or have a port each.
  void add_action_latencies(std::size_t c) {
    const Component& component = problem_.arch.components[c];
    const bool separate =
        component.is_memory() && std::get<Memory>(component.kind).ports == Ports::kSeparate;
    std::vector<double> rates;
    for (const Action& a : component.actions) rates.push_back(1.0 / a.throughput);
    if (!separate) {
      add_latency_row(c, rates);
      return;
    }
    for (std::size_t a = 0; a < rates.size(); ++a) {
      std::vector<double> alone(rates.size(), 0);
      alone[a] = rates[a];
      add_latency_row(c, alone);
    }
  }

  void add_latency_row(std::size_t component, const std::vector<double>& rates) {
    Row row;
    for (std::size_t a = 0; a < rates.size(); ++a)
      add(&row, actions_[component][a].busiest, rates[a] * shape_.multiplicity);
    if (!row.terms.empty() || row.constant != 0) program_.latency.push_back(std::move(row));
  }

  // ---- occupancy ---------------------------------------------------------------------------
  /// Loops below a slot that its reservation sinks through (normal form).
  LoopSet sunk_loops(const Slot& slot) const {
    LoopSet result;
    if (slot.backing) return result;
    const std::uint32_t gap = slot.sliding_loop < 0
                                  ? slot.gap
                                  : templ_.loops[static_cast<std::size_t>(slot.sliding_loop)].gap;
    for (std::uint32_t i = 0; i < templ_.loops.size(); ++i) {
      const LoopPlace& place = templ_.loops[i];
      if (place.gap != gap) continue;
      const bool slides = static_cast<std::int32_t>(i) == slot.sliding_loop;
      const bool passes =
          place.spatial ? place.component == slot.component
                        : slides || (!place.fused && shape_.sinks(slot.tensor, place.variable));
      if (!passes) break;
      result = result | loop_of(i);
      if (slides) break;
    }
    return result;
  }

  LoopSet loop_of(std::uint32_t place) const {
    return mask([&](const ClassLoop& l) {
      return std::find(l.places.begin(), l.places.end(), place) != l.places.end();
    });
  }

  void add_reservation(Row* row, const Slot& slot, double bits) {
    const auto index = static_cast<std::int32_t>(&slot - templ_.slots.data());
    const bool twice = !slot.persistent && is_double_buffered(problem_.arch[slot.component]);
    for (std::size_t h = 0; h < bound_.held.size(); ++h) {
      if (bound_.held[h].tensor != static_cast<int>(slot.tensor)) continue;
      const auto access = static_cast<std::uint32_t>(bound_.accesses.size() + h);
      const LoopSet sunk = sunk_loops(slot);
      const double all = bits * extent_without_loops(bound_.held[h], slot.backing);
      add(row, monomial(index, access, {}, sunk), twice ? 2 * all : all);
      if (twice) add(row, monomial(index, access, {}, sunk, true), -all);
    }
  }

  void add_occupancy() {
    std::vector<Row> totals(problem_.arch.components.size());
    program_.persistent.resize(tracked_.size());
    std::vector<Rival> rivals;
    for (const Slot& slot : templ_.slots) {
      const std::size_t c = slot.component.index();
      if (!problem_.arch[slot.component].is_memory() || unlimited_[c]) continue;
      const Slot* host = host_of(slot);
      const double common = bits_in_host(slot, host);
      if (host != nullptr && is_rival(slot, *host, rivals))
        rivals.push_back({host, &slot});
      else
        add_reservation(&totals[c], slot, own_bits(slot, host));
      if (!slot.shared) {
        if (Row* row = private_row(slot)) add_reservation(row, slot, bits_per_value(slot) - common);
      } else if (host != nullptr && !host->shared && host->persistent == slot.persistent) {
        // The shared tensor's size follows from the compatibility: its host has the rest.
        if (Row* row = private_row(*host)) add_reservation(row, slot, -common);
      }
    }
    for (std::size_t c = 0; c < totals.size(); ++c)
      if (!totals[c].terms.empty()) limit(totals[c], ComponentId(c));
    for (const Rival& rival : rivals) {
      Row instead = totals[rival.slot->component.index()];
      add_reservation(&instead, *rival.host, -own_bits(*rival.host, host_of(*rival.host)));
      add_reservation(&instead, *rival.slot, bits_per_value(*rival.slot));
      limit(instead, rival.slot->component);
    }
  }

  void limit(const Row& row, ComponentId memory) {
    program_.limits.push_back({row, bound_.components[memory.index()].size_bits, memory});
  }

  /// A slot whose tile is in the reservation of another one, and may be the larger of the two: the
  /// memory has room for each of them with everything else.
  struct Rival {
    const Slot *host, *slot;
  };

  /// Only one host in a memory has rivals; of others, both tiles are added as far as they differ.
  bool is_rival(const Slot& slot, const Slot& host, const std::vector<Rival>& known) const {
    const auto has_another = [&](const Rival& rival) {
      return rival.slot->component == slot.component && rival.host != &host;
    };
    return own_bits(slot, &host) > 0 && std::none_of(known.begin(), known.end(), has_another);
  }

  double bits_in_host(const Slot& slot, const Slot* host) const {
    return host == nullptr ? 0 : std::min(most_bits_per_value(slot), most_bits_per_value(*host));
  }
  /// Per value, besides those in the host's reservation.
  double own_bits(const Slot& slot, const Slot* host) const {
    return std::max(0.0, bits_per_value(slot) - bits_in_host(slot, host));
  }

  double bits_per_value(const Slot& slot) const {
    return bound_.components[slot.component.index()].bits_per_value[slot.tensor] *
           (slot.persistent ? shape_.tensors[slot.tensor].instances : 1);
  }

  /// Of the Einsum that gives a value most.
  double most_bits_per_value(const Slot& slot) const {
    const LocalTensor& tensor = shape_.tensors[slot.tensor];
    double most = bits_per_value(slot);
    for (const OtherHolder& other : tensor.other_holders)
      most = std::max(
          most, other.bits[slot.component.index()] * (slot.persistent ? tensor.instances : 1));
    return most;
  }

  /// The node, as far out or further, in whose reservation a slot's tile lies, because one tensor
  /// is a copy of the other; or null.
  const Slot* host_of(const Slot& slot) const {
    if (!slot.backing) return nullptr;
    for (const Slot& other : templ_.slots) {
      if (&other == &slot || !other.backing || other.component != slot.component ||
          !is_copy_of(slot.tensor, other.tensor))
        continue;
      if (other.persistent != slot.persistent ? other.persistent : &other < &slot) return &other;
    }
    return nullptr;
  }

  bool is_copy_of(std::uint32_t a, std::uint32_t b) const {
    return shape_.tensors[a].copy_of == static_cast<std::int32_t>(b) ||
           shape_.tensors[b].copy_of == static_cast<std::int32_t>(a);
  }

  /// Where the reservation of a tensor counts that no other Einsum uses; null: nowhere.
  Row* private_row(const Slot& slot) {
    const auto tracked = std::find_if(tracked_.begin(), tracked_.end(),
                                      [&](const auto& m) { return m.component == slot.component; });
    if (tracked == tracked_.end()) return nullptr;
    const auto index = static_cast<std::uint32_t>(tracked - tracked_.begin());
    return slot.persistent ? &program_.persistent[index] : segment(index, slot);
  }

  Row* segment(std::uint32_t tracked, const Slot& slot) {
    const std::uint32_t gap = std::min(slot.gap, last_fused_gap_ + 1);
    const bool slides =
        slot.sliding_loop >= 0 && templ_.loops[static_cast<std::size_t>(slot.sliding_loop)].fused;
    const std::int32_t over = slides ? slot.sliding_loop : -1;
    for (SegmentRow& s : program_.segments)
      if (s.tracked == tracked && s.gap == gap && s.slides_over == over) return &s.row;
    program_.segments.push_back({tracked, gap, over, {}});
    return &program_.segments.back().row;
  }

  void add_fanout_limits() {
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      for (std::uint32_t d = 0; d < problem_.arch.components[c].spatial.size(); ++d) {
        const LoopSet loops = mask([&](const ClassLoop& l) {
          return l.spatial && l.component == ComponentId(c) && l.dimension == d;
        });
        if (loops.empty()) continue;
        Row row;
        add(&row, monomial(-1, 0, loops), 1);
        program_.limits.push_back(
            {row, static_cast<double>(problem_.arch.components[c].spatial[d].fanout),
             ComponentId(c)});
      }
    }
  }

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<VariableClass>& classes_;
  const std::vector<TrackedMemory>& tracked_;
  const std::vector<bool>& unlimited_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  std::uint32_t last_fused_gap_ = 0;
  std::vector<std::vector<ActionRows>> actions_;  // per component and action
  UsedComponents used_;
  CostProgram program_;
};

}  // namespace

CostProgram compile(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<VariableClass>& classes,
                    const std::vector<TrackedMemory>& tracked, const std::vector<bool>& unlimited) {
  return Compiler(problem, shape, templ, classes, tracked, unlimited).run();
}

}  // namespace sluice::fused
