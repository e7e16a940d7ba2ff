#include "cost_program.h"

#include <algorithm>
#include <cmath>

#include "mapper/common/numbered.h"
#include "mapper/space/sunk_loops.h"
#include "model/price/charges.h"
#include "model/traffic/access_counter.h"
#include "product_sums.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Counts of one action of one component, over all instances and of the busiest one.
struct ActionRows {
  Row total;
  Row busiest;
};

std::uint64_t hash_of(const Monomial& monomial) {
  const auto number = static_cast<std::uint32_t>(monomial.slot);
  std::uint64_t hash =
      KeyHash::mix((std::uint64_t{number} << 32U | monomial.access) + (monomial.still ? 1 : 0));
  for (const LoopSet* loops : {&monomial.extra_above, &monomial.loops, &monomial.united})
    hash = KeyHash::mix(hash ^ loops->hash());
  for (const FixedLoop& fixed : monomial.fixed)
    hash = KeyHash::mix(hash ^ (std::uint64_t{fixed.loop} << 48U) ^
                        static_cast<std::uint64_t>(fixed.trips));
  return hash;
}

class Compiler {
 public:
  Compiler(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
           const std::vector<VariableClass>& classes, const std::vector<TrackedMemory>& tracked,
           const std::vector<bool>& unlimited, const std::atomic<bool>* cancel)
      : problem_(problem),
        shape_(shape),
        templ_(templ),
        classes_(classes),
        tracked_(tracked),
        unlimited_(unlimited),
        cancel_(cancel),
        bound_(problem[shape.einsum]),
        compute_(bound_.computes[templ.compute]),
        used_(problem.arch.components.size()) {
    actions_.resize(problem.arch.components.size());
    loads_.resize(problem.arch.components.size());
    for (std::size_t c = 0; c < actions_.size(); ++c)
      actions_[c].resize(problem.arch.components[c].actions.size());
    for (const Slot& slot : templ.slots)
      if (slot.shared) last_fused_gap_ = std::max(last_fused_gap_, slot.gap);
    for (const LoopPlace& loop : templ.loops)
      if (loop.steps) last_fused_gap_ = std::max(last_fused_gap_, loop.gap);
  }

  CostProgram run() {
    program_.cuts = compute_.cuts;
    count();
    add_energy();
    add_latency();
    add_occupancy();
    add_fanout_limits();
    add_route_limits();
    for (std::uint32_t gap = 0; gap <= templ_.slots.back().gap; ++gap) keep_from_sinking(gap);
    program_.monomials = monomials_.take();
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

  // ---- rows --------------------------------------------------------------------------------
  std::uint32_t number_of(Monomial wanted) {
    if (wanted.slot < 0 && wanted.united.empty()) wanted.access = 0;  // no tile
    const std::uint64_t hash = hash_of(wanted);
    return monomials_.number(hash, std::move(wanted));
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

  void add(Row* row, const Row& other, double factor) {
    if (factor == 0) return;
    row->constant += other.constant * factor;
    add_terms(row, other.terms, factor);
  }

  void add(Row* row, const ProductSum& sum, double factor) {
    if (factor == 0) return;
    terms_.clear();
    for (const ProductTerm& term : sum)
      terms_.push_back({number_of(term.monomial), term.coefficient});
    add_terms(row, terms_, factor);
  }

  /// Rows of routes have thousands of terms: each is found by its number.
  void add_terms(Row* row, const std::vector<RowTerm>& terms, double factor) {
    constexpr std::size_t kFew = 16;
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    if (row->terms.size() <= kFew || terms.size() <= kFew) {
      for (const RowTerm& term : terms) add(row, term.monomial, term.coefficient * factor);
      return;
    }
    place_in_row_.assign(monomials_.size(), kNone);
    for (std::uint32_t i = 0; i < row->terms.size(); ++i) place_in_row_[row->terms[i].monomial] = i;
    for (const RowTerm& term : terms) {
      const double coefficient = term.coefficient * factor;
      if (coefficient == 0) continue;
      std::uint32_t& place = place_in_row_[term.monomial];
      if (place == kNone) {
        place = static_cast<std::uint32_t>(row->terms.size());
        row->terms.push_back({term.monomial, coefficient});
      } else {
        row->terms[place].coefficient += coefficient;
      }
    }
  }

  // ---- traffic -----------------------------------------------------------------------------
  /// Counts as the model does, and turns counts into actions.
  void count() {
    const TemplateNest nest(problem_, shape_, templ_, classes_);
    ProductSums arithmetic(problem_, shape_, nest, cancel_);
    BasicNestTraffic<ProductSum> traffic;
    count_nest(arithmetic, problem_, nest.tree, nest.nest(), nullptr, traffic);
    charge(problem_, nest.tree, nest.nest(), traffic, *this);
  }

  friend class Charges<ProductSum, Compiler>;
  void uses(ComponentId component) { used_.add(component); }
  void action(const ActionCharge<ProductSum>& charge) {
    ActionRows& rows = actions_[charge.component.index()][charge.action];
    add(&rows.total, charge.all, charge.rate.factor());
    add(&rows.busiest, charge.busiest, charge.rate.factor());
  }
  void hops(const HopCharge<ProductSum>& charge) {
    add(&program_.energy, charge.traffic.half_hops,
        charge.rate.factor() * charge.energy_j * shape_.multiplicity);
  }
  void merges_for_free(const ProductSum&) {}
  static ProductSum sum(ProductSum a, const ProductSum& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  NetworkLoad<Row>& load_of(ComponentId network) { return loads_[network.index()]; }
  void add(Row& amount, const ProductSum& count, const Rate& rate) {
    add(&amount, count, rate.factor());
  }

  // ---- energy and latency ------------------------------------------------------------------
  void add_energy() {
    for (std::size_t c = 0; c < actions_.size(); ++c)
      for (std::size_t a = 0; a < actions_[c].size(); ++a)
        add(&program_.energy, actions_[c][a].total,
            problem_.arch.components[c].actions[a].energy_j * shape_.multiplicity);
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      const double instances = leaking_instances(problem_, shape_.einsum, used_, c);
      program_.leak_w += problem_.arch.components[c].leak_power_w * instances;
    }
  }

  void add_latency() {
    for (std::size_t c = 0; c < actions_.size(); ++c) {
      if (!used_[c]) continue;
      const Component& component = problem_.arch.components[c];
      if (const auto* network = std::get_if<Network>(&component.kind))
        add_network_rows(*network, loads_[c]);
      else
        add_rows(c);
    }
  }

  void add_rows(std::size_t c) {
    std::vector<Row> rows;
    program_.monotone &= visit_time_terms(
        problem_.arch.components[c], bound_.components[c],
        [&](std::size_t row, std::size_t action, const ActionTime& time) {
          rows.resize(row + 1);
          add(&rows[row], actions_[c][action].busiest, time.per_call() * shape_.multiplicity);
        });
    for (Row& row : rows)
      if (!is_nothing(row)) program_.latency.push_back(std::move(row));
  }

  /// Links without a load wait like the others.
  void add_network_rows(const Network& network, const NetworkLoad<Row>& load) {
    const std::size_t before = program_.latency.size();
    const auto add_row = [&](Row row, const Row& waiting) {
      add(&row, waiting, shape_.multiplicity);
      if (!is_nothing(row)) program_.latency.push_back(std::move(row));
    };
    visit_link_times(network, load,
                     [&](const Row& bits, const ActionTime& time, const Row& waiting) {
                       if (is_cancelled(cancel_)) return;
                       Row row;
                       add(&row, bits, time.per_call() * shape_.multiplicity);
                       if (!is_nothing(row)) add_row(std::move(row), waiting);
                     });
    if (program_.latency.size() == before) add_row({}, load.waiting);
  }

  static bool is_nothing(const Row& row) { return row.terms.empty() && row.constant == 0; }

  // ---- occupancy ---------------------------------------------------------------------------
  /// Class loops of places.
  LoopSet loops_of(const std::vector<std::uint32_t>& places) const {
    LoopSet result;
    for (const std::uint32_t place : places) result = result | loop_of(place);
    return result;
  }

  /// The same with one step each.
  std::vector<FixedLoop> single_steps(const std::vector<std::uint32_t>& places) const {
    std::vector<FixedLoop> result;
    for (const VariableClass& cls : classes_)
      for (const ClassLoop& loop : cls.loops)
        if (std::any_of(places.begin(), places.end(), [&](std::uint32_t place) {
              return std::find(loop.places.begin(), loop.places.end(), place) != loop.places.end();
            }))
          result.push_back({loop.number, 1});
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
      const double all = bits * extent_without_loops(shape_, bound_.held[h], slot.backing);
      const auto add_tile = [&](const std::vector<std::uint32_t>& sunk,
                                const std::vector<std::uint32_t>& absent, double share) {
        Monomial tile{.slot = index, .access = access, .extra_above = loops_of(sunk)};
        tile.fixed = single_steps(absent);
        add(row, number_of(tile), (twice ? 2 : 1) * share * all);
        tile.still = true;
        if (twice) add(row, number_of(std::move(tile)), -share * all);
      };
      std::vector<std::uint32_t> sunk = sunk_loops(shape_, templ_, slot);
      add_tile(sunk, {}, 1);
      for (const FurtherSink& further : further_sinks(shape_, templ_, slot)) {
        add_tile(sunk, further.stopping, -1);
        add_tile(further.sunk, further.stopping, 1);
        sunk = further.sunk;
      }
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

  /// The node, as far out or further, in whose reservation a slot's tile lies (or, with a tensor in
  /// between that the Einsum does not use, may lie), because one tensor is a copy of the other; or
  /// null.
  const Slot* host_of(const Slot& slot) const {
    if (!slot.backing) return nullptr;
    for (const Slot& other : templ_.slots) {
      if (&other == &slot || !other.backing || other.component != slot.component ||
          !are_relatives(shape_, slot.tensor, other.tensor))
        continue;
      if (other.persistent != slot.persistent ? other.persistent : &other < &slot) return &other;
    }
    return nullptr;
  }

  /// Where the reservation of a tensor counts that no other Einsum uses; null: nowhere.
  Row* private_row(const Slot& slot) {
    const auto tracked = std::find_if(tracked_.begin(), tracked_.end(),
                                      [&](const auto& m) { return m.component == slot.component; });
    if (tracked == tracked_.end()) return nullptr;
    const auto index = static_cast<std::uint32_t>(tracked - tracked_.begin());
    const std::uint64_t carried = carried_by(slot);
    const bool always = slot.persistent || outlasts_fused_loops(slot, carried);
    return always ? &program_.persistent[index] : segment(index, slot, carried);
  }

  Row* segment(std::uint32_t tracked, const Slot& slot, std::uint64_t carried) {
    const std::uint32_t gap = std::min(slot.gap, last_fused_gap_ + 1);
    // What an Einsum makes goes back with every step of a loop that its node slides over.
    const std::int32_t loop =
        shape_.tensors[slot.tensor].is_output ? slot.loop_above_node() : slot.sunk_loop;
    const bool sinks = loop >= 0 && templ_.loops[static_cast<std::size_t>(loop)].fused;
    const std::int32_t below = sinks ? loop : -1;
    for (SegmentRow& s : program_.segments)
      if (s.tracked == tracked && s.gap == gap && s.sunk_below == below && s.carried_by == carried)
        return &s.row;
    program_.segments.push_back({tracked, gap, below, carried, {}});
    return &program_.segments.back().row;
  }

  /// Whether the loop over all steps of the recurrence, which is no fused loop, carries it: it is
  /// there while the other Einsums take their part of a step.
  bool outlasts_fused_loops(const Slot& slot, std::uint64_t carried) const {
    return std::any_of(templ_.loops.begin(), templ_.loops.end(), [&](const LoopPlace& loop) {
      return loop.steps && loop.gap < slot.gap && (carried >> loop.variable & 1U) != 0;
    });
  }

  /// The variables along whose steps a backing node of a state that no other Einsum uses carries
  /// it.
  std::uint64_t carried_by(const Slot& slot) const {
    const LocalTensor& tensor = shape_.tensors[slot.tensor];
    std::uint64_t carried = 0;
    if (slot.backing && problem_.roles.sole_maker(tensor.id))
      for (std::size_t v = 0; v < tensor.stepped.size(); ++v)
        if (tensor.stepped[v]) carried |= std::uint64_t{1} << v;
    return carried;
  }

  void add_fanout_limits() {
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      for (std::uint32_t d = 0; d < problem_.arch.components[c].spatial.size(); ++d) {
        const LoopSet loops = mask([&](const ClassLoop& l) {
          return l.spatial && l.component == ComponentId(c) && l.dimension == d;
        });
        if (loops.empty()) continue;
        Row row;
        add(&row, number_of({.loops = loops}), 1);
        program_.limits.push_back(
            {row, static_cast<double>(problem_.arch.components[c].spatial[d].fanout),
             ComponentId(c)});
      }
    }
  }

  /// Where routes cost something, the order of loops over one dimension counts. Above shared
  /// tensors it depends on the other Einsums: there is one such loop at most.
  void add_route_limits() {
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c)
      if (has_routes(problem_, compute_, ComponentId(c)))
        for (std::uint32_t d = 0; d < problem_.arch.components[c].spatial.size(); ++d)
          limit_fused_loops(ComponentId(c), d);
  }

  void limit_fused_loops(ComponentId component, std::uint32_t dimension) {
    Row row;
    for (const VariableClass& cls : classes_) {
      for (const ClassLoop& loop : cls.loops) {
        if (!loop.fused || !loop.spatial || loop.component != component ||
            loop.dimension != dimension)
          continue;
        row.constant += 1;
        Monomial absent;
        absent.fixed = {{loop.number, 1}};
        add(&row, number_of(std::move(absent)), -1);
      }
    }
    if (row.constant > 1) program_.limits.push_back({std::move(row), 1, component});
  }

  /// Loops that the node above a gap would sink through stand there only if another one, which
  /// stands before them, stops it: else the same is found with these loops above it.
  void keep_from_sinking(std::uint32_t gap) {
    std::vector<const ClassLoop*> loops;
    for (const VariableClass& cls : classes_)
      for (const ClassLoop& loop : cls.loops)
        if (loop.gap == gap) loops.push_back(&loop);
    std::sort(loops.begin(), loops.end(), [](const ClassLoop* a, const ClassLoop* b) {
      return a->places.front() < b->places.front();
    });
    Row sinking;
    Monomial none_stops;
    for (const ClassLoop* loop : loops) {
      if (!templ_.loops[loop->places.front()].stopped) {
        if (stops_nodes(templ_, loop->places.front()))
          none_stops.fixed.push_back({loop->number, 1});
        continue;
      }
      Monomial absent = none_stops;
      absent.fixed.push_back({loop->number, 1});
      add(&sinking, number_of(none_stops), 1);
      add(&sinking, number_of(std::move(absent)), -1);
    }
    if (!sinking.terms.empty())
      program_.limits.push_back({std::move(sinking), 0, compute_.component});
  }

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<VariableClass>& classes_;
  const std::vector<TrackedMemory>& tracked_;
  const std::vector<bool>& unlimited_;
  const std::atomic<bool>* cancel_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  std::uint32_t last_fused_gap_ = 0;
  std::vector<std::vector<ActionRows>> actions_;  // per component and action
  std::vector<NetworkLoad<Row>> loads_;           // per component; of networks
  UsedComponents used_;
  CostProgram program_;
  Numbered<Monomial> monomials_;             // of the program
  std::vector<RowTerm> terms_;               // of add()
  std::vector<std::uint32_t> place_in_row_;  // of add_terms(), per monomial
};

}  // namespace

CostProgram compile(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<VariableClass>& classes,
                    const std::vector<TrackedMemory>& tracked, const std::vector<bool>& unlimited,
                    const std::atomic<bool>* cancel) {
  return Compiler(problem, shape, templ, classes, tracked, unlimited, cancel).run();
}

}  // namespace sluice::fused
