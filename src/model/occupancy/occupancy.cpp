#include "model/occupancy/occupancy.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "model/occupancy/held_boxes.h"
#include "model/occupancy/reservations.h"
#include "model/tree/finish_nests.h"
#include "model/tree/regions.h"

namespace sluice {
namespace {

struct Excess {
  double bits = 0;
  std::vector<std::size_t> nests;  ///< that run then; several below a concurrent split
  Moment moment;
  const FlatCollective* collective = nullptr;  ///< that runs then, after the nest
};

/// The largest tile that an entry of the tree reserves, and the width of its values.
struct ReservedTile {
  std::int64_t volume = 0;
  std::string shape;  ///< `[4×8]`; a value without ranks has none
  double bits_per_value = 0;
};

ReservedTile reserved_tile(const BoundProblem& problem, const FlatTree& tree, std::uint32_t entry) {
  ReservedTile reserved;
  for (const Nest& nest : tree.nests) {
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree.storages[s];
      if (storage.entry != entry) continue;
      const BoundComponent& memory = problem[nest.einsum].components[storage.component.index()];
      for (const BoundAccess& access : problem[nest.einsum].held) {
        const std::int64_t* tiles = tree.tiles_at(storage);
        if (access.tensor != storage.tensor || tile_volume(access, tiles) <= reserved.volume)
          continue;
        reserved = {tile_volume(access, tiles), "",
                    memory.bits_per_value[static_cast<std::size_t>(storage.tensor)]};
        for (const BoundIndex& index : access.index)
          reserved.shape += (reserved.shape.empty() ? "[" : "×") +
                            with_thousands(static_cast<double>(tile_extent(index, tiles)));
        if (!reserved.shape.empty()) reserved.shape += "]";
      }
    }
  }
  return reserved;
}

/// Every factor of what a tensor takes: `B 1,024 = [8×8] × 8 bits × 2 buffers`. Where the tile is
/// no box (Einsums touch different parts), its values are counted instead.
std::string reservation_text(const BoundProblem& problem, const FlatTree& tree,
                             const Reservations& analysis, std::uint32_t reservation) {
  const std::vector<std::uint32_t> entries = analysis.entries_of(reservation);
  const std::uint32_t entry =
      *std::max_element(entries.begin(), entries.end(), [&](std::uint32_t a, std::uint32_t b) {
        return tree.entries[a].bits < tree.entries[b].bits;
      });
  const ReservedTile tile = reserved_tile(problem, tree, entry);
  const double multiple = analysis.multiple(reservation);
  const double values = analysis.bits(reservation) / multiple / tile.bits_per_value;
  std::string text = problem.workload[analysis.entry_of(reservation).tensor].name + " " +
                     with_thousands(analysis.bits(reservation)) + " = " +
                     (values == static_cast<double>(tile.volume) && !tile.shape.empty()
                          ? tile.shape
                          : with_thousands(values) + (values == 1 ? " value" : " values")) +
                     " × " + with_thousands(tile.bits_per_value) +
                     (tile.bits_per_value == 1 ? " bit" : " bits");
  if (multiple != 1)
    text += " × " + with_thousands(multiple) + " " + analysis.multiple_name(reservation);
  return text;
}

void report_excess(const BoundProblem& problem, const FlatTree& tree, Reservations& analysis,
                   std::size_t component, const Excess& excess, ViolationReport& report) {
  const Nest& nest = tree.nests[excess.nests.front()];
  const double capacity = problem[nest.einsum].components[component].size_bits;
  std::vector<std::pair<double, std::uint32_t>> held;
  for (std::size_t running : excess.nests)
    for (std::uint32_t index :
         excess.collective ? analysis.live_at(*excess.collective) : analysis.live_at(running))
      if (const std::pair<double, std::uint32_t> part{analysis.bits(index), index};
          analysis.entry_of(index).component.index() == component &&
          std::find(held.begin(), held.end(), part) == held.end())
        held.push_back(part);
  std::stable_sort(held.begin(), held.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string parts;
  for (const auto& [bits, index] : held)
    parts += (parts.empty() ? "" : ", ") + reservation_text(problem, tree, analysis, index);
  const std::string user = excess.collective
                               ? collective_name(excess.collective->collective->type) + " of " +
                                     report.name(excess.collective->collective->tensor)
                               : "Einsum " + report.name(nest.einsum);
  Violation& violation =
      report.add(ViolationKind::kCapacity, excess.collective ? excess.collective->node : nest.node,
                 report.name(ComponentId(component)) + " holds " + with_thousands(capacity) +
                     " bits; the " + user + " needs " + with_thousands(capacity + excess.bits) +
                     " (" + parts + "), " + with_thousands(excess.bits) + " too many.",
                 nest.einsum);
  violation.component = ComponentId(component);
  violation.excess_bits = excess.bits;
  for (const auto& [bits, index] : held)
    violation.tensors.push_back(analysis.entry_of(index).tensor);
}

}  // namespace

namespace {

/// Compares what is alive with the capacities, nest by nest.
class CapacityCheck {
 public:
  /// `boxes`: null where the largest tiles of all nodes meet.
  CapacityCheck(const BoundProblem& problem, const FlatTree& tree, HeldBoxes* boxes,
                const HeldListener& listen)
      : problem_(problem),
        tree_(tree),
        boxes_(boxes),
        listen_(listen),
        analysis_(problem, tree),
        n_components_(problem.arch.components.size()),
        excess_(n_components_),
        live_bits_(n_components_),
        occupancy_{std::vector<double>(n_components_, 0), std::vector<double>(n_components_, 0)} {
    add_whole_run();
  }

  /// What nest `n` needs.
  void add(std::size_t n) {
    if (!boxes_) return add(n, {});
    const std::vector<std::uint32_t> entries = analysis_.entries_at(n, has_whole_run_);
    boxes_->for_each_moment(n, entries, [&](const Moment& moment) { add(n, moment); });
  }

  void add(const FlatCollective& collective) {
    if (!boxes_) return add_bits(collective);
    const std::vector<std::uint32_t> entries = analysis_.entries_at(collective);
    boxes_->for_each_moment(static_cast<std::size_t>(collective.place - 1), entries,
                            [&](const Moment&) { add_bits(collective); });
  }

  /// What all nests need, some of which run at the same time: largest tiles throughout.
  void add_concurrent() {
    for (int n = 0; n < static_cast<int>(tree_.nests.size());) {
      const auto [loads, end] = loads_at(n, 0);
      for (std::size_t c = 0; c < n_components_; ++c) {
        if (!problem_.arch.components[c].is_memory() || loads[c].nests.empty()) continue;
        note(c, loads[c].bits, loads[c].nests, {});
        if (listen_) tell({n, end, nullptr, ComponentId(c)}, loads[c]);
      }
      n = end;
    }
  }

  void report(ViolationReport& report) {
    for (std::size_t c = 0; c < n_components_; ++c) {
      if (excess_[c].bits <= 0) continue;
      if (boxes_) boxes_->hold(excess_[c].moment);
      report_excess(problem_, tree_, analysis_, c, excess_[c], report);
    }
  }

  Occupancy take() { return std::move(occupancy_); }

 private:
  /// The most that one memory holds, and the nests that run then.
  struct Load {
    double bits = 0;
    std::vector<std::size_t> nests;
  };

  /// What is there during the whole run is added up once, where it is the same at each moment.
  void add_whole_run() {
    whole_run_bits_.assign(n_components_, 0);
    const std::vector<std::uint32_t>* whole_run = analysis_.whole_run();
    if (!whole_run) return;
    for (std::uint32_t reservation : *whole_run)
      for (std::uint32_t entry : analysis_.entries_of(reservation))
        if (boxes_ && !boxes_->is_constant(entry)) return;
    has_whole_run_ = true;
    for (std::uint32_t index : *whole_run)
      whole_run_bits_[analysis_.entry_of(index).component.index()] += analysis_.bits(index);
    if (!listen_) return;
    live_bits_ = whole_run_bits_;
    HeldStep step{0, static_cast<int>(tree_.nests.size())};
    step.is_whole_run = true;
    tell_of_all(step, *whole_run);
  }

  /// What is alive while a nest runs, without what whole_run_bits_ has.
  const std::vector<std::uint32_t>& live_at(std::size_t n) {
    return has_whole_run_ ? analysis_.live_besides_whole_run(n) : analysis_.live_at(n);
  }

  /// What nest `n` needs with the bits that the tree's entries have now.
  void add(std::size_t n, const Moment& moment) {
    live_bits_ = whole_run_bits_;
    for (std::uint32_t index : live_at(n))
      live_bits_[analysis_.entry_of(index).component.index()] += analysis_.bits(index);
    for (std::size_t c = 0; c < n_components_; ++c)
      if (problem_.arch.components[c].is_memory()) note(c, live_bits_[c], {&n, 1}, moment);
    const int place = static_cast<int>(n);
    if (listen_) tell_of_all({place, place + 1}, live_at(n));
  }

  /// Each memory's part of what is alive.
  void tell_of_all(HeldStep step, const std::vector<std::uint32_t>& live) {
    std::vector<std::vector<HeldPart>> parts(n_components_);
    for (std::uint32_t index : live) {
      if (!step.is_whole_run && is_of_whole_run(index)) continue;
      const TreeEntry& entry = analysis_.entry_of(index);
      parts[entry.component.index()].push_back({index, entry.tensor, analysis_.bits(index)});
    }
    for (std::size_t c = 0; c < n_components_; ++c) {
      if (!problem_.arch.components[c].is_memory()) continue;
      step.memory = ComponentId(c);
      step.bits = live_bits_[c];
      step.parts = parts[c];
      listen_(step);
    }
  }

  bool is_of_whole_run(std::uint32_t reservation) const {
    return has_whole_run_ && std::binary_search(analysis_.whole_run()->begin(),
                                                analysis_.whole_run()->end(), reservation);
  }

  /// What some nests hold at the same time in the memory of `step`.
  void tell(HeldStep step, const Load& load) {
    std::vector<HeldPart> parts;
    std::vector<char> is_known;
    for (std::size_t nest : load.nests)
      for (std::uint32_t index : live_at(nest)) {
        if (index >= is_known.size()) is_known.resize(index + 1);
        const TreeEntry& entry = analysis_.entry_of(index);
        if (entry.component != step.memory || is_known[index] != 0) continue;
        is_known[index] = 1;
        parts.push_back({index, entry.tensor, analysis_.bits(index)});
      }
    step.bits = load.bits;
    step.parts = parts;
    listen_(step);
  }

  /// What is there while a collective brings a tensor elsewhere.
  void add_bits(const FlatCollective& collective) {
    std::fill(live_bits_.begin(), live_bits_.end(), 0.0);
    for (std::uint32_t index : analysis_.live_at(collective))
      live_bits_[analysis_.entry_of(index).component.index()] += analysis_.bits(index);
    const std::size_t before = static_cast<std::size_t>(collective.place - 1);
    for (std::size_t c = 0; c < n_components_; ++c)
      if (problem_.arch.components[c].is_memory())
        note(c, live_bits_[c], {&before, 1}, {}, &collective);
    if (listen_)
      tell_of_all({collective.place - 1, collective.place, &collective},
                  analysis_.live_at(collective));
  }

  void note(std::size_t c, double bits, std::span<const std::size_t> nests, const Moment& moment,
            const FlatCollective* collective = nullptr) {
    const double capacity = problem_[tree_.nests[nests.front()].einsum].components[c].size_bits;
    if (bits > occupancy_.peak_bits[c]) {
      occupancy_.peak_bits[c] = bits;
      occupancy_.capacity_bits[c] = capacity;
    } else if (occupancy_.peak_bits[c] == 0) {
      occupancy_.capacity_bits[c] = std::max(occupancy_.capacity_bits[c], capacity);
    }
    if (bits - capacity > excess_[c].bits)
      excess_[c] = {bits - capacity, {nests.begin(), nests.end()}, moment, collective};
  }

  /// Per component: what reservations below at least `depth` concurrent splits take at most while
  /// nests [begin, end) run, those in different children of such a split at the same time.
  std::vector<Load> loads_of(int begin, int end, int depth) {
    std::vector<Load> most(n_components_);
    for (int n = begin; n < end;) {
      auto [now, next] = loads_at(n, depth);
      for (std::size_t c = 0; c < n_components_; ++c)
        if (most[c].nests.empty() || now[c].bits > most[c].bits) most[c] = std::move(now[c]);
      n = next;
    }
    return most;
  }

  /// The same while one nest runs, or the split at `depth` that begins with it; and what is next.
  std::pair<std::vector<Load>, int> loads_at(int n, int depth) {
    const ConcurrentSplit* split = tree_.concurrent_split_at(n, depth);
    std::vector<Load> now(n_components_), largest(n_components_);  // that of one child alone
    for (std::size_t c = 0; depth == 0 && c < n_components_; ++c) now[c].bits = whole_run_bits_[c];
    for (std::uint32_t index : live_at(static_cast<std::size_t>(n)))
      if (analysis_.concurrency(index) == depth)
        now[analysis_.entry_of(index).component.index()].bits += analysis_.bits(index);
    for (std::size_t s = 0; split && s < split->stages.size(); ++s) {
      const std::vector<Load> child = loads_of(split->stages[s], split->stage_end(s), depth + 1);
      for (std::size_t c = 0; c < n_components_; ++c) {
        if (is_divided(problem_.arch, *split, ComponentId(c))) {
          if (largest[c].nests.empty() || child[c].bits > largest[c].bits) largest[c] = child[c];
          continue;
        }
        now[c].bits += child[c].bits;
        now[c].nests.insert(now[c].nests.end(), child[c].nests.begin(), child[c].nests.end());
      }
    }
    for (std::size_t c = 0; c < n_components_; ++c) {
      now[c].bits += largest[c].bits;
      now[c].nests.insert(now[c].nests.end(), largest[c].nests.begin(), largest[c].nests.end());
      if (!split) now[c].nests = {static_cast<std::size_t>(n)};
    }
    return {std::move(now), split ? split->end : n + 1};
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  HeldBoxes* boxes_;
  const HeldListener& listen_;
  Reservations analysis_;
  std::size_t n_components_;
  std::vector<Excess> excess_;
  std::vector<double> live_bits_;
  std::vector<double> whole_run_bits_;
  bool has_whole_run_ = false;  ///< whole_run_bits_ has what is there during the whole run
  Occupancy occupancy_;
};

}  // namespace

Occupancy check_capacities(const BoundProblem& problem, FlatTree& tree, ViolationReport& report,
                           const HeldListener& listen) {
  std::optional<HeldBoxes> boxes;
  if (problem.holds_unlike_boxes && tree.concurrent.empty()) boxes.emplace(problem, tree);
  CapacityCheck check(problem, tree, boxes ? &*boxes : nullptr, listen);
  if (!tree.concurrent.empty()) check.add_concurrent();
  for (std::size_t n = 0; n < tree.nests.size() && tree.concurrent.empty(); ++n) check.add(n);
  for (const FlatCollective& flat : tree.collectives)
    if (flat.moves && flat.place > 0) check.add(flat);
  check.report(report);
  return check.take();
}

}  // namespace sluice
