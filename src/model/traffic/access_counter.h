#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/network/network_counter.h"
#include "model/traffic/systolic.h"
#include "model/traffic/traffic.h"
#include "model/visits/first_sights.h"
#include "model/visits/padding.h"
#include "model/visits/refetches.h"
#include "model/visits/uneven_refetches.h"
#include "model/visits/visit_sum.h"
#include "sluice/support/checked.h"

namespace sluice {

inline constexpr std::uint32_t kComputeLevel = UINT32_MAX;

/// A place that tiles of one tensor reach: a storage node, or the compute.
struct Place {
  std::uint32_t storage = kComputeLevel;  ///< index within the nest
  int n_loops = 0;                        ///< loops above it
  int slides_over = -1;
  bool incremental = false;
  int steps_begin = 0, steps_end = 0;  ///< loops in whose steps it is not filled again

  bool stays_in(int l) const { return steps_begin <= l && l < steps_end; }
};

/// Which loops count how often.
struct CountMode {
  int spatial_from = 0;      ///< spatial loops from here on may be shared by multicast or reduction
  bool busiest = false;      ///< spatial loops before that do not count
  bool first_visit = false;  ///< only visits that see a tile of the output for the first time
  bool merged = false;       ///< as if every dimension could reduce
};

/// Counts the movements of one tensor along its storage nodes. `Arithmetic` says what a count is: a
/// 64-bit number, or a symbol of a program that works it out later for many tile shapes.
template <class Arithmetic>
class AccessCounter {
 public:
  using Value = typename Arithmetic::Value;

  AccessCounter(Arithmetic& arithmetic, const BoundProblem& problem, const FlatTree& tree,
                const Nest& nest, const BoundAccess& access, BasicNestTraffic<Value>& traffic)
      : arithmetic_(arithmetic),
        workload_(problem.workload),
        einsum_(problem[nest.einsum]),
        ranges_(problem.workload[nest.einsum].iteration_space),
        arch_(problem.arch),
        tree_(tree),
        nest_(nest),
        access_(access),
        traffic_(traffic.storages),
        networks_(arithmetic, problem, tree, nest, traffic.networks),
        loops_(tree.loops.data() + nest.loops_begin),
        n_loops_(static_cast<int>(nest.loops_end - nest.loops_begin)),
        windowed_(access.is_output && moves_windows(access, loops_, n_loops_)),
        outside_(ones()) {}

  /// Inputs travel down, an output up; partial sums also travel down, except on the first visit.
  void count(std::int64_t* padding) {
    padding_ = access_.leaves_ranks ? padding : nullptr;
    Place parent = storage_place(kComputeLevel);
    tolls_.clear();
    for (std::uint32_t s = 0; s < n_storages(); ++s) {
      if (storage(s).tensor != access_.tensor) continue;
      step_to(storage_place(s), &parent);
    }
    if (parent.storage != kComputeLevel) link(parent, Place{kComputeLevel, n_loops_, -1});
  }

  /// A copy moves each value once, from where its input is backed to where its output is.
  void count_copy(int output_tensor) {
    const std::vector<std::uint32_t> chain = copy_chain(output_tensor);
    if (chain.size() < 2) return;
    const bool upwards = storage(chain.front()).tensor == output_tensor;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const Place parent = storage_place(chain[i - 1]), child = storage_place(chain[i]);
      const Value volume = volume_at(child);
      const auto [above, below] = moves(parent, child, volume);
      if (charges(parent, upwards)) add(parent, upwards, above.all, above.unit);
      if (charges(child, upwards)) add(child, !upwards, below.all, below.unit);
      // Persistent tensors stand first, wherever their memory is.
      const bool inwards = depth_of(chain[i - 1]) < depth_of(chain[i]);
      const bool down = upwards != inwards;
      cross_networks(parent, child, volume, down, !down, false);
    }
  }

 private:
  std::uint32_t n_storages() const { return nest_.storages_end - nest_.storages_begin; }
  const NestStorage& storage(std::uint32_t s) const {
    return tree_.storages[nest_.storages_begin + s];
  }
  Place storage_place(std::uint32_t s) const {
    if (s == kComputeLevel) return {};
    const NestStorage& at = storage(s);
    const int slides_over = access_.is_output ? -1 : at.slides_over;  // sums go back whole
    return {s, at.loops_above, slides_over, at.incremental, at.steps_begin, at.steps_end};
  }

  /// False for a toll on the other way only.
  bool charges(const Place& place, bool upwards) const {
    const Toll* toll = std::get_if<Toll>(&arch_[storage(place.storage).component].kind);
    const auto other = upwards ? Toll::Direction::kDown : Toll::Direction::kUp;
    return !toll || toll->direction != other;
  }

  void step_to(Place place, Place* parent) {
    if (arch_[storage(place.storage).component].is_toll()) {
      if (parent->storage != kComputeLevel) tolls_.push_back(place);
      return;
    }
    if (parent->storage != kComputeLevel) link(*parent, place);
    tolls_.clear();
    *parent = place;
  }

  bool counts_drains(const Place& place) const {
    const Memory* memory = std::get_if<Memory>(&arch_[storage(place.storage).component].kind);
    return !memory || memory->draining_reads == DrainingReads::kCounted;
  }

  Value volume_at(const Place& place) const {
    if (place.storage != kComputeLevel)
      return arithmetic_.volume(tree_, storage(place.storage), access_);
    std::int64_t volume = 1;  // more than one value where two slices of a state are read
    for (const BoundIndex& index : access_.index) volume *= 1 + index.slack;
    return arithmetic_.constant(volume);
  }

  LoopEffect effect(int l, const Place& child, const CountMode& mode) const {
    const NestLoop& loop = loops_[l];
    const Relevance relevance = relevance_of(l);
    if (!loop.spatial) {
      if (child.stays_in(l)) return LoopEffect::kOnce;
      if (mode.first_visit && relevance != Relevance::kRelevant)
        return relevance == Relevance::kPartial ? LoopEffect::kUnited : LoopEffect::kOnce;
      return l == child.slides_over ? LoopEffect::kSlide : LoopEffect::kEvery;
    }
    if (l < mode.spatial_from) return mode.busiest ? LoopEffect::kOnce : LoopEffect::kEvery;
    if (mode.merged && relevance == Relevance::kPartial) return LoopEffect::kUnited;
    if (relevance != Relevance::kIrrelevant || is_peer(l, child)) return LoopEffect::kEvery;
    return mode.merged || may_reuse(loop) ? LoopEffect::kOnce : LoopEffect::kEvery;
  }

  /// Whether a loop spreads over instances that have different shares of the tile.
  bool is_peer(int l, const Place& child) const {
    return child.storage != kComputeLevel && ((storage(child.storage).peers >> l) & 1) != 0;
  }

  bool may_reuse(const NestLoop& loop) const {
    const BoundSpatial& dimension =
        einsum_.components[loop.component.index()].spatial[loop.dimension];
    return (dimension.may_reuse >> access_.tensor) & 1;
  }

  auto trips(int l) const { return arithmetic_.trips(tree_, nest_.loops_begin, l); }

  /// Values of the tiles that the visits of `child` move.
  Value sum(const Place& child, Value volume, const CountMode& mode) const {
    if (child.incremental && !mode.first_visit) return incremental_sum(child, mode);
    if (mode.first_visit && windowed_)
      return arithmetic_.first_sights(visits(child, effects(child, mode)));
    if (nest_.perfect) {
      Value product = volume;
      for (int l = 0; l < child.n_loops; ++l)
        if (effect(l, child, mode) == LoopEffect::kEvery)
          product = arithmetic_.multiply(std::move(product), trips(l));
      return product;
    }
    return arithmetic_.visit_sum(visits(child, effects(child, mode)));
  }

  Visits visits(const Place& child, const std::vector<LoopEffect>& effects) const {
    const bool at_compute = child.storage == kComputeLevel;
    return {loops_, effects, access_, ranges_, at_compute ? nullptr : &storage(child.storage)};
  }

  std::vector<LoopEffect> effects(const Place& child, const CountMode& mode) const {
    std::vector<LoopEffect> effects;
    for (int l = 0; l < child.n_loops; ++l) effects.push_back(effect(l, child, mode));
    return effects;
  }

  /// As sum, for a child that fetches only what its last tile did not hold.
  Value incremental_sum(const Place& child, const CountMode& mode) const {
    Value product = arithmetic_.constant(0);
    if constexpr (std::is_same_v<Value, std::int64_t>) {
      if (!nest_.perfect) {
        return uneven_refetches(access_, loops_, effects(child, mode).data(), child.n_loops,
                                ranges_);
      }
      product = refetched_in(child).values;
    } else {
      arithmetic_.refuse();
    }
    // Instances of one fanout with equal tiles share one message.
    std::map<ComponentId, std::vector<const NestLoop*>> shared;
    for (int l = 0; l < child.n_loops; ++l) {
      if (!loops_[l].spatial || effect(l, child, mode) != LoopEffect::kEvery) continue;
      if (l >= mode.spatial_from && !access_.is_output && may_reuse(loops_[l]))
        shared[loops_[l].component].push_back(&loops_[l]);
      else
        product = arithmetic_.multiply(std::move(product), trips(l));
    }
    for (const auto& [component, loops] : shared)
      product =
          arithmetic_.multiply(product, arithmetic_.constant(different_tiles(access_, loops)));
    return product;
  }

  Refetches refetched_in(const Place& child) const {
    return refetches(access_, tree_.tiles_at(storage(child.storage)), loops_, child.n_loops);
  }

  /// What moves between a child and its parent, on one side of the spatial loops between them:
  /// everything, and the first visits of an output's tiles; in all, and of the busiest instance.
  struct Moves {
    Value all, unit, first_all, first_unit;
  };

  Moves ones() const {
    const Value one = arithmetic_.constant(1);
    return {one, one, one, one};
  }

  /// Multiplies by the trips of the loops from `begin` to `end`. `outside`: spatial loops that
  /// stand above both ends of a transfer; else they multicast or reduce where they may.
  void multiply_trips(int begin, int end, bool outside, const Place& child, Moves& product) const {
    const auto times = [&](Value& value, const auto& trips) {
      value = arithmetic_.multiply(std::move(value), trips);
    };
    for (int l = begin; l < end; ++l) {
      const NestLoop& loop = loops_[l];
      if (loop.trips == 1) continue;
      const Relevance seen = access_.relevance[static_cast<std::size_t>(loop.variable)];
      if (loop.spatial && !outside && seen == Relevance::kIrrelevant && may_reuse(loop) &&
          !is_peer(l, child))
        continue;
      const bool one_instance = loop.spatial && outside;
      const auto n = trips(l);
      times(product.all, n);
      if (!one_instance) times(product.unit, n);
      if (!access_.is_output || (!loop.spatial && seen != Relevance::kRelevant)) continue;
      times(product.first_all, n);
      if (!one_instance) times(product.first_unit, n);
    }
  }

  /// The products of all loops above a place, seen from that place; asked for places from the
  /// outside inwards.
  const Moves& outside_products(const Place& place) {
    multiply_trips(n_outside_, place.n_loops, true, place, outside_);
    n_outside_ = place.n_loops;
    return outside_;
  }

  Moves times_volume(Moves product, const Value& volume, const Value& first_volume) const {
    for (Value* value : {&product.all, &product.unit})
      *value = arithmetic_.multiply(std::move(*value), volume);
    for (Value* value : {&product.first_all, &product.first_unit})
      *value = arithmetic_.multiply(std::move(*value), first_volume);
    return product;
  }

  /// What one instance of a child sees for the first time in each step of the loops that index the
  /// tensor alone: its tile, or what the tiles of all windows cover.
  Value first_volume(const Place& child, Value volume) const {
    if (!windowed_) return volume;
    std::vector<LoopEffect> effects;
    for (int l = 0; l < child.n_loops; ++l) {
      const bool united = !loops_[l].spatial && relevance_of(l) == Relevance::kPartial;
      effects.push_back(united ? LoopEffect::kUnited : LoopEffect::kOnce);
    }
    return arithmetic_.first_sights(visits(child, effects));
  }

  Relevance relevance_of(int l) const {
    return access_.relevance[static_cast<std::size_t>(loops_[l].variable)];
  }

  /// Both sides of a transfer, its parent's first.
  std::pair<Moves, Moves> moves(const Place& parent, const Place& child, Value volume) {
    if (!nest_.perfect || child.incremental || child.steps_end > child.steps_begin)
      return {uneven_moves(child, volume, parent.n_loops),
              uneven_moves(child, volume, child.n_loops)};
    Moves above = outside_products(parent);
    multiply_trips(parent.n_loops, child.n_loops, false, child, above);
    const Value first = first_volume(child, volume);
    return {times_volume(above, volume, first),
            times_volume(outside_products(child), volume, first)};
  }

  Moves uneven_moves(const Place& child, Value volume, int spatial_from) const {
    const auto of = [&](bool busiest, bool first) {
      return sum(child, volume, {spatial_from, busiest, first, false});
    };
    const Value none = arithmetic_.constant(0);
    const bool output = access_.is_output;
    return {of(false, false), of(true, false), output ? of(false, true) : none,
            output ? of(true, true) : none};
  }

  void add(const Place& place, bool as_writes, Value total, Value unit) {
    if (place.storage == kComputeLevel) return;
    BasicStorageTraffic<Value>& traffic = traffic_[place.storage];
    Value& all = as_writes ? traffic.writes : traffic.reads;
    Value& busiest = as_writes ? traffic.unit_writes : traffic.unit_reads;
    all = arithmetic_.add(std::move(all), std::move(total));
    busiest = arithmetic_.add(std::move(busiest), std::move(unit));
  }

  /// Books what goes down on a child's side or its parent's: partial sums but for the first visit.
  void add_downwards(const Place& place, bool as_writes, const Moves& moved) {
    if (!access_.is_output) return add(place, as_writes, moved.all, moved.unit);
    add(place, as_writes, arithmetic_.subtract(moved.all, moved.first_all),
        arithmetic_.subtract(moved.unit, moved.first_unit));
  }

  void note_crossing(const Moves& above, const Moves& below, BasicStorageTraffic<Value>& child) {
    child.parent_sent = above.unit;
    child.unit_filled = below.unit;
    if (!access_.is_output) return;
    child.parent_received = above.unit;
    child.unit_drained = below.unit;
    child.parent_sent = arithmetic_.subtract(above.unit, above.first_unit);
    child.unit_filled = arithmetic_.subtract(below.unit, below.first_unit);
  }

  /// Moves between a storage node and the next one further in (or the compute).
  void link(const Place& parent, const Place& child) {
    const Value volume = volume_at(child);
    const auto [above, below] = moves(parent, child, volume);
    add_downwards(parent, false, above);
    if (access_.is_output) {
      add(parent, true, above.all, above.unit);
      add_merges(parent, child, volume);
    }
    if (child.storage != kComputeLevel) {
      add_downwards(child, true, below);
      if (access_.is_output && counts_drains(child)) add(child, false, below.all, below.unit);
      note_crossing(above, below, traffic_[child.storage]);
    }
    for (const Place& toll : tolls_) charge_toll(toll, child, volume);
    cross_networks(parent, child, volume, true, access_.is_output, access_.is_output);
    if (child.storage != kComputeLevel && storage(child.storage).shares > 1) rotate(child, volume);
    if constexpr (std::is_same_v<Value, std::int64_t>)
      if (padding_) add_padding(parent, child, above);
  }

  /// In each pass every peer gets every share but its own from its neighbour.
  void rotate(const Place& child, const Value& share) {
    if constexpr (std::is_same_v<Value, std::int64_t>) {
      const NestStorage& node = storage(child.storage);
      std::int64_t shifts = node.shares - 1, instances = 1;
      for (int l = 0; l < child.n_loops; ++l) {
        std::int64_t& product = loops_[l].spatial ? instances : shifts;
        product = checked_multiply(product, loops_[l].trips);
      }
      const std::int64_t unit = checked_multiply(shifts, share);
      const std::int64_t all = checked_multiply(unit, instances);
      add(child, false, all, unit);
      add(child, true, all, unit);
      networks_.rotate(access_.tensor, end_at(child), shifts, share);
    } else {
      arithmetic_.refuse();
    }
  }

  /// What moves outside the ranks: operands down, or sums up, and down but for first sights.
  void add_padding(const Place& parent, const Place& child, const Moves& above) {
    const std::int64_t padding = above.all - inside(parent, child, false);
    *padding_ = checked_add(*padding_, padding);
    if (!access_.is_output) return;
    const std::int64_t first = above.first_all - inside(parent, child, true);
    *padding_ = checked_add(*padding_, padding - first);
  }

  void cross_networks(const Place& parent, const Place& child, Value volume, bool down, bool up,
                      bool skip_first_down) {
    if (nest_.compute->networks.empty()) return;
    std::optional<Refetches> refetched;
    if constexpr (std::is_same_v<Value, std::int64_t>)
      if (child.incremental) refetched = refetched_in(child);
    networks_.add({&access_, end_at(parent), end_at(child), std::move(volume), down, up,
                   skip_first_down, refetched});
  }

  TransferEnd end_at(const Place& place) const {
    const std::vector<int>& depth = nest_.compute->depth;
    const NestStorage* node = place.storage == kComputeLevel ? nullptr : &storage(place.storage);
    const ComponentId component = node ? node->component : nest_.compute->component;
    return {depth[component.index()], place.n_loops,   place.slides_over,
            place.steps_begin,        place.steps_end, node};
  }

  /// Of the values that move from `parent` to `child`, those inside the tensor's ranks.
  std::int64_t inside(const Place& parent, const Place& child, bool first_visit) const {
    const std::vector<LoopEffect> effects =
        this->effects(child, {parent.n_loops, false, first_visit, false});
    const TensorId tensor = einsum_.tensors[static_cast<std::size_t>(access_.tensor)];
    std::vector<std::int64_t> rank_sizes;
    for (RankId rank : workload_[tensor].ranks) rank_sizes.push_back(workload_[rank].size);
    const auto& sum = first_visit && windowed_ ? first_sights_inside : visit_sum_inside;
    return sum(loops_, effects.data(), child.n_loops, access_, ranges_, rank_sizes);
  }

  void add_merges(const Place& parent, const Place& child, Value volume) {
    bool unreduced = false;
    for (int l = parent.n_loops; l < child.n_loops; ++l) {
      const NestLoop& loop = loops_[l];
      unreduced |= loop.spatial && loop.trips > 1 &&
                   (relevance_of(l) == Relevance::kPartial ||
                    (relevance_of(l) == Relevance::kIrrelevant && !may_reuse(loop)));
    }
    if (!unreduced) return;
    const auto merges = [&](bool busiest) {
      return arithmetic_.subtract(sum(child, volume, {parent.n_loops, busiest, true, false}),
                                  sum(child, volume, {parent.n_loops, busiest, true, true}));
    };
    BasicStorageTraffic<Value>& traffic = traffic_[parent.storage];
    traffic.merge_reads = arithmetic_.add(traffic.merge_reads, merges(false));
    traffic.unit_merge_reads = arithmetic_.add(traffic.unit_merge_reads, merges(true));
  }

  /// A toll is charged for what crosses it on the way between its parent and its child.
  void charge_toll(const Place& toll, const Place& child, Value volume) {
    const Toll& kind = std::get<Toll>(arch_[storage(toll.storage).component].kind);
    const bool down = kind.direction != Toll::Direction::kUp;
    const bool up = kind.direction != Toll::Direction::kDown;
    for (const bool busiest : {false, true}) {
      const Value none = arithmetic_.constant(0);
      const Value crossed = sum(child, volume, {toll.n_loops, busiest, false, false});
      Value charged = down ? crossed : none;
      if (down && access_.is_output)
        charged =
            arithmetic_.subtract(charged, sum(child, volume, {toll.n_loops, busiest, true, false}));
      if (up && access_.is_output) charged = arithmetic_.add(charged, crossed);
      add(toll, false, busiest ? none : charged, busiest ? charged : none);
    }
  }

  int depth_of(std::uint32_t s) const { return nest_.compute->depth[storage(s).component.index()]; }

  /// Storage nodes of a copy's two tensors from the outer backing node to the inner one, each
  /// memory once (the backing node before another); what stands below the last backing node does
  /// not exist.
  std::vector<std::uint32_t> copy_chain(int output_tensor) const {
    std::vector<std::uint32_t> chain;
    std::size_t length = 0;
    for (std::uint32_t s = 0; s < n_storages(); ++s) {
      const NestStorage& node = storage(s);
      if (node.tensor != access_.tensor && node.tensor != output_tensor) continue;
      const auto known = std::find_if(chain.begin(), chain.end(), [&](std::uint32_t other) {
        return storage(other).component == node.component;
      });
      const bool is_new = known == chain.end();
      const bool backing = tree_.entries[node.entry].backing;
      if (backing && !is_new && tree_.entries[storage(*known).entry].backing)
        return {};  // an alias
      const auto place = static_cast<std::size_t>(known - chain.begin());
      if (is_new) chain.push_back(s);
      if (backing) chain[place] = s;  // it has the value in the width in which it stays
      if (backing) length = std::max(length, place + 1);
    }
    chain.resize(length);
    if (length < 2) return chain;
    const auto lies_beyond = [&](std::uint32_t s) {
      return depth_of(s) > std::max(depth_of(chain.front()), depth_of(chain.back()));
    };
    std::vector<std::uint32_t> between;
    for (const std::uint32_t s : chain)
      if (!lies_beyond(s)) between.push_back(s);
    return between;
  }

  Arithmetic& arithmetic_;
  const Workload& workload_;
  const BoundEinsum& einsum_;
  const std::vector<VariableRange>& ranges_;
  const Arch& arch_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundAccess& access_;
  std::vector<BasicStorageTraffic<Value>>& traffic_;
  NetworkCounter<Arithmetic> networks_;
  const NestLoop* loops_;
  int n_loops_;
  bool windowed_;  ///< an output whose tiles may overlap
  std::vector<Place> tolls_;
  Moves outside_;  ///< products of the first `n_outside_` loops
  int n_outside_ = 0;
  std::int64_t* padding_ = nullptr;
};

/// What `count_points` counts: iteration points; steps of the busiest compute; folds of its array;
/// instances of what stands below some loops.
enum class Points : std::uint8_t { kAll, kBusiest, kFolds, kInstances };

/// The steps of a nest's loops, or of the temporal ones alone; of the temporal or the spatial ones
/// of the first `n_first`.
template <class Arithmetic>
typename Arithmetic::Value count_points(Arithmetic& arithmetic, const BoundProblem& problem,
                                        const FlatTree& tree, const Nest& nest, Points counted,
                                        int n_first = 0) {
  const NestLoop* loops = tree.loops.data() + nest.loops_begin;
  const int n_loops = static_cast<int>(nest.loops_end - nest.loops_begin);
  const auto counts = [&](int l) {
    if (counted == Points::kInstances) return loops[l].spatial && l < n_first;
    return counted == Points::kAll ||
           (!loops[l].spatial && (counted == Points::kBusiest || l < n_first));
  };
  if (nest.perfect) {
    typename Arithmetic::Value product = arithmetic.constant(1);
    for (int l = 0; l < n_loops; ++l)
      if (counts(l))
        product =
            arithmetic.multiply(std::move(product), arithmetic.trips(tree, nest.loops_begin, l));
    return product;
  }
  std::vector<LoopEffect> effects;
  for (int l = 0; l < n_loops; ++l)
    effects.push_back(counts(l) ? LoopEffect::kEvery : LoopEffect::kOnce);
  return arithmetic.visit_sum(
      {loops, effects, BoundAccess{}, problem.workload[nest.einsum].iteration_space});
}

/// Cycles of a nest's busiest compute: its steps, and what a systolic array spends on each fold.
template <class Arithmetic>
typename Arithmetic::Value count_unit_operations(Arithmetic& arithmetic,
                                                 const BoundProblem& problem, const FlatTree& tree,
                                                 const Nest& nest) {
  const auto steps = count_points(arithmetic, problem, tree, nest, Points::kBusiest);
  const auto folds = array_folds(problem, tree, nest);
  if (!folds) return steps;
  auto filling = arithmetic.multiply(
      arithmetic.constant(folds->fill_and_drain),
      count_points(arithmetic, problem, tree, nest, Points::kFolds, folds->first_loop));
  return arithmetic.add(steps, arithmetic.where_spread(nest, folds->array, std::move(filling)));
}

/// Instances that the Einsum uses of each memory that has whole actions.
template <class Arithmetic>
void count_instances(Arithmetic& arithmetic, const BoundProblem& problem, const FlatTree& tree,
                     const Nest& nest, BasicNestTraffic<typename Arithmetic::Value>& result) {
  for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
    const NestStorage& storage = tree.storages[s];
    if (problem.arch[storage.component].has_whole_actions())
      result.storages[s - nest.storages_begin].instances =
          count_points(arithmetic, problem, tree, nest, Points::kInstances, storage.loops_above);
  }
}

/// Counts a nest's traffic; `result` is overwritten. Padding takes time to find and is counted on
/// demand, where `padding` is not null.
template <class Arithmetic>
void count_nest(Arithmetic& arithmetic, const BoundProblem& problem, const FlatTree& tree,
                const Nest& nest, std::int64_t* padding,
                BasicNestTraffic<typename Arithmetic::Value>& result) {
  const auto none = arithmetic.constant(0);
  result.storages.assign(nest.storages_end - nest.storages_begin,
                         {none, none, none, none, none, none, none, none, none, none, none});
  count_instances(arithmetic, problem, tree, nest, result);
  result.networks.clear();
  result.operations = result.unit_operations = none;
  const BoundEinsum& einsum = problem[nest.einsum];
  if (problem.workload[nest.einsum].is_copy_operation) {
    AccessCounter<Arithmetic>(arithmetic, problem, tree, nest, einsum.accesses.front(), result)
        .count_copy(einsum.accesses.back().tensor);
    return;
  }
  for (const BoundAccess& access : einsum.accesses)
    AccessCounter<Arithmetic>(arithmetic, problem, tree, nest, access, result).count(padding);
  result.operations = count_points(arithmetic, problem, tree, nest, Points::kAll);
  result.unit_operations = count_unit_operations(arithmetic, problem, tree, nest);
}

}  // namespace sluice
