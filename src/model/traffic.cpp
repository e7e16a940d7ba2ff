#include "model/traffic.h"

#include <algorithm>

#include "model/finish_nests.h"
#include "model/padding.h"
#include "model/systolic.h"
#include "model/visit_sum.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

constexpr std::uint32_t kComputeLevel = UINT32_MAX;

/// A place that tiles of one tensor reach: a storage node, or the compute.
struct Place {
  std::uint32_t storage = kComputeLevel;  ///< index within the nest
  int n_loops = 0;                        ///< loops above it
  int slides_over = -1;
};

/// Which loops count how often.
struct CountMode {
  int spatial_from = 0;      ///< spatial loops from here on may be shared by multicast or reduction
  bool busiest = false;      ///< spatial loops before that do not count
  bool first_visit = false;  ///< only visits that see a tile of the output for the first time
  bool merged = false;       ///< as if every dimension could reduce
};

/// Counts the movements of one tensor along its storage nodes.
class AccessCounter {
 public:
  AccessCounter(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                const BoundAccess& access, std::vector<StorageTraffic>& traffic)
      : workload_(problem.workload),
        einsum_(problem[nest.einsum]),
        ranges_(problem.workload[nest.einsum].iteration_space),
        arch_(problem.arch),
        tree_(tree),
        nest_(nest),
        access_(access),
        traffic_(traffic),
        loops_(tree.loops.data() + nest.loops_begin),
        n_loops_(static_cast<int>(nest.loops_end - nest.loops_begin)) {}

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
      const std::int64_t volume = volume_at(child);
      const std::int64_t parents = sum(child, volume, {parent.n_loops, false, false, false});
      const std::int64_t unit_parents = sum(child, volume, {parent.n_loops, true, false, false});
      const std::int64_t children = sum(child, volume, {child.n_loops, false, false, false});
      const std::int64_t unit_children = sum(child, volume, {child.n_loops, true, false, false});
      add(parent, upwards, parents, unit_parents);
      add(child, !upwards, children, unit_children);
    }
  }

 private:
  std::uint32_t n_storages() const { return nest_.storages_end - nest_.storages_begin; }
  const NestStorage& storage(std::uint32_t s) const {
    return tree_.storages[nest_.storages_begin + s];
  }
  Place storage_place(std::uint32_t s) const {
    if (s == kComputeLevel) return {};
    return {s, storage(s).loops_above, storage(s).slides_over};
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

  std::int64_t volume_at(const Place& place) const {
    if (place.storage == kComputeLevel) {
      std::int64_t volume = 1;  // more than one value where two slices of a state are read
      for (const BoundIndex& index : access_.index) volume *= 1 + index.slack;
      return volume;
    }
    return tile_volume(access_, tree_.tiles_at(storage(place.storage)));
  }

  LoopEffect effect(int l, const Place& child, const CountMode& mode) const {
    const NestLoop& loop = loops_[l];
    const Relevance relevance = access_.relevance[static_cast<std::size_t>(loop.variable)];
    if (!loop.spatial) {
      if (mode.first_visit && relevance != Relevance::kRelevant) return LoopEffect::kOnce;
      return l == child.slides_over ? LoopEffect::kSlide : LoopEffect::kEvery;
    }
    if (l < mode.spatial_from) return mode.busiest ? LoopEffect::kOnce : LoopEffect::kEvery;
    if (relevance != Relevance::kIrrelevant) return LoopEffect::kEvery;
    return mode.merged || may_reuse(loop) ? LoopEffect::kOnce : LoopEffect::kEvery;
  }

  bool may_reuse(const NestLoop& loop) const {
    const BoundSpatial& dimension =
        einsum_.components[loop.component.index()].spatial[loop.dimension];
    return (dimension.may_reuse >> access_.tensor) & 1;
  }

  /// Values of the tiles that the visits of `child` move.
  std::int64_t sum(const Place& child, std::int64_t volume, const CountMode& mode) const {
    if (nest_.perfect) {
      std::int64_t product = volume;
      for (int l = 0; l < child.n_loops; ++l)
        if (effect(l, child, mode) == LoopEffect::kEvery)
          product = checked_multiply(product, loops_[l].trips);
      return product;
    }
    std::vector<LoopEffect> effects;
    for (int l = 0; l < child.n_loops; ++l) effects.push_back(effect(l, child, mode));
    return visit_sum(loops_, effects.data(), child.n_loops, access_, ranges_);
  }

  void add(const Place& place, bool as_writes, std::int64_t total, std::int64_t unit) {
    if (place.storage == kComputeLevel) return;
    StorageTraffic& traffic = traffic_[place.storage];
    std::int64_t& all = as_writes ? traffic.writes : traffic.reads;
    std::int64_t& busiest = as_writes ? traffic.unit_writes : traffic.unit_reads;
    all = checked_add(all, total);
    busiest = checked_add(busiest, unit);
  }

  /// Moves between a storage node and the next one further in (or the compute).
  void link(const Place& parent, const Place& child) {
    const std::int64_t volume = volume_at(child);
    const auto moved = [&](int spatial_from, bool busiest) {
      return sum(child, volume, {spatial_from, busiest, false, false});
    };
    const auto skipped = [&](int spatial_from, bool busiest) {
      return access_.is_output ? sum(child, volume, {spatial_from, busiest, true, false}) : 0;
    };
    const std::int64_t all = moved(parent.n_loops, false);
    const std::int64_t unit = moved(parent.n_loops, true);
    add(parent, false, all - skipped(parent.n_loops, false), unit - skipped(parent.n_loops, true));
    if (access_.is_output) {
      add(parent, true, all, unit);
      add_merges(parent, child, volume);
    }
    if (child.storage != kComputeLevel) {
      const std::int64_t all_below = moved(child.n_loops, false);
      const std::int64_t unit_below = moved(child.n_loops, true);
      add(child, true, all_below - skipped(child.n_loops, false),
          unit_below - skipped(child.n_loops, true));
      if (access_.is_output) add(child, false, all_below, unit_below);
    }
    for (const Place& toll : tolls_) charge_toll(toll, child, volume);
    if (padding_) *padding_ = checked_add(*padding_, all - inside(parent, child));
  }

  /// Of the values that move from `parent` to `child`, those inside the tensor's ranks.
  std::int64_t inside(const Place& parent, const Place& child) const {
    std::vector<LoopEffect> effects;
    for (int l = 0; l < child.n_loops; ++l)
      effects.push_back(effect(l, child, {parent.n_loops, false, false, false}));
    const TensorId tensor = einsum_.tensors[static_cast<std::size_t>(access_.tensor)];
    std::vector<std::int64_t> rank_sizes;
    for (RankId rank : workload_[tensor].ranks) rank_sizes.push_back(workload_[rank].size);
    return visit_sum_inside(loops_, effects.data(), child.n_loops, access_, ranges_, rank_sizes);
  }

  void add_merges(const Place& parent, const Place& child, std::int64_t volume) {
    bool unreduced = false;
    for (int l = parent.n_loops; l < child.n_loops; ++l) {
      const NestLoop& loop = loops_[l];
      unreduced |=
          loop.spatial && loop.trips > 1 && !may_reuse(loop) &&
          access_.relevance[static_cast<std::size_t>(loop.variable)] == Relevance::kIrrelevant;
    }
    if (!unreduced) return;
    const auto merges = [&](bool busiest) {
      return sum(child, volume, {parent.n_loops, busiest, true, false}) -
             sum(child, volume, {parent.n_loops, busiest, true, true});
    };
    StorageTraffic& traffic = traffic_[parent.storage];
    traffic.merge_reads = checked_add(traffic.merge_reads, merges(false));
    traffic.unit_merge_reads = checked_add(traffic.unit_merge_reads, merges(true));
  }

  /// A toll is charged for what crosses it on the way between its parent and its child.
  void charge_toll(const Place& toll, const Place& child, std::int64_t volume) {
    const Toll& kind = std::get<Toll>(arch_[storage(toll.storage).component].kind);
    const bool down = kind.direction != Toll::Direction::kUp;
    const bool up = kind.direction != Toll::Direction::kDown;
    for (const bool busiest : {false, true}) {
      const std::int64_t crossed = sum(child, volume, {toll.n_loops, busiest, false, false});
      std::int64_t charged = 0;
      if (down) charged = crossed;
      if (down && access_.is_output)
        charged -= sum(child, volume, {toll.n_loops, busiest, true, false});
      if (up && access_.is_output) charged = checked_add(charged, crossed);
      add(toll, false, busiest ? 0 : charged, busiest ? charged : 0);
    }
  }

  /// Storage nodes of a copy's two tensors from the outer backing node to the inner one, each
  /// memory once; what stands below the last backing node does not exist.
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
      if (backing) length = std::max(length, place + 1);
    }
    chain.resize(length);
    return chain;
  }

  const Workload& workload_;
  const BoundEinsum& einsum_;
  const std::vector<VariableRange>& ranges_;
  const Arch& arch_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundAccess& access_;
  std::vector<StorageTraffic>& traffic_;
  const NestLoop* loops_;
  int n_loops_;
  std::vector<Place> tolls_;
  std::int64_t* padding_ = nullptr;
};

std::int64_t count_operations(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              bool busiest) {
  const NestLoop* loops = tree.loops.data() + nest.loops_begin;
  const int n_loops = static_cast<int>(nest.loops_end - nest.loops_begin);
  if (nest.perfect) {
    std::int64_t product = 1;
    for (int l = 0; l < n_loops; ++l)
      if (!busiest || !loops[l].spatial) product = checked_multiply(product, loops[l].trips);
    return product;
  }
  std::vector<LoopEffect> effects;
  for (int l = 0; l < n_loops; ++l)
    effects.push_back(busiest && loops[l].spatial ? LoopEffect::kOnce : LoopEffect::kEvery);
  return visit_sum(loops, effects.data(), n_loops, BoundAccess{},
                   problem.workload[nest.einsum].iteration_space);
}

}  // namespace

void count_traffic(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                   bool with_padding, NestTraffic* result) {
  result->storages.assign(nest.storages_end - nest.storages_begin, StorageTraffic{});
  result->operations = result->unit_operations = result->padding_values = 0;
  const BoundEinsum& einsum = problem[nest.einsum];
  if (problem.workload[nest.einsum].is_copy_operation) {
    AccessCounter(problem, tree, nest, einsum.accesses.front(), result->storages)
        .count_copy(einsum.accesses.back().tensor);
    return;
  }
  for (const BoundAccess& access : einsum.accesses)
    AccessCounter(problem, tree, nest, access, result->storages)
        .count(with_padding ? &result->padding_values : nullptr);
  result->operations = count_operations(problem, tree, nest, false);
  result->unit_operations = count_operations(problem, tree, nest, true);
  if (const auto cycles = systolic_cycles(problem, tree, nest)) result->unit_operations = *cycles;
}

}  // namespace sluice
