#include "model/latency/staged_policy.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "model/latency/counted_nests.h"
#include "model/latency/transfer_times.h"
#include "model/price/nest_pricer.h"
#include "model/price/overlap.h"
#include "model/tree/finish_nests.h"
#include "model/tree/regions.h"

namespace sluice {
namespace {

/// Seconds by what they are spent on.
struct Times {
  double compute_s = 0, simd_s = 0, compulsory_s = 0, optional_s = 0;
  double collectives_s = 0, conflicts_s = 0;
  std::vector<StallRow> stalls;  ///< where compulsory_s and optional_s come from, if asked for
  double total() const {
    return compute_s + simd_s + compulsory_s + optional_s + collectives_s + conflicts_s;
  }
  void add(const Times& other, double factor = 1) {
    compute_s += factor * other.compute_s;
    simd_s += factor * other.simd_s;
    compulsory_s += factor * other.compulsory_s;
    optional_s += factor * other.optional_s;
    collectives_s += factor * other.collectives_s;
    conflicts_s += factor * other.conflicts_s;
    for (const StallRow& stall : other.stalls) {
      stalls.push_back(stall);
      stalls.back().times *= factor;
      stalls.back().seconds *= factor;
    }
  }
};

/// What one step of a stage moves, pair of memories by pair (the compute is the inner one of a
/// pair, too): seconds at either end, and before a transfer starts.
class Transfers {
 public:
  using Pair = std::pair<ComponentId, std::optional<ComponentId>>;

  explicit Transfers(bool keeps_tensors) : keeps_tensors_(keeps_tensors) {}

  void fill(TensorId tensor, const Pair& pair, double parent_s, double child_s, double setup_s) {
    add(tensor, parent_s, child_s, setup_s, &of(pair, &in_));
  }
  void drain(TensorId tensor, const Pair& pair, double parent_s, double child_s, double setup_s) {
    add(tensor, parent_s, child_s, setup_s, &of(pair, &out_));
  }
  /// The memory's reads and writes take turns.
  void share_port(ComponentId parent) {
    if (std::find(shared_.begin(), shared_.end(), parent) == shared_.end())
      shared_.push_back(parent);
  }

  double in_s() const { return longest(in_, std::nullopt); }
  double out_s() const { return longest(out_, std::nullopt); }
  /// Ends and tensors of the transfers that in_s, out_s or step_s is the time of.
  StallRow longest_fill() const { return row_of(StallKind::kFirstFill, in_, in_s(), {}); }
  StallRow longest_drain() const { return row_of(StallKind::kLastDrain, out_, out_s(), {}); }
  StallRow longest_step() const {
    const double seconds = step_s();
    if (in_s() == seconds) return row_of(StallKind::kTransfers, in_, seconds, {});
    if (out_s() == seconds) return row_of(StallKind::kTransfers, out_, seconds, {});
    for (ComponentId parent : shared_) {
      const double fill_s = longest(in_, parent), drain_s = longest(out_, parent);
      if (fill_s + drain_s != seconds) continue;
      StallRow row = row_of(StallKind::kTransfers, in_, fill_s, parent);
      const StallRow drain = row_of(StallKind::kTransfers, out_, drain_s, parent);
      row.tensors.insert(row.tensors.end(), drain.tensors.begin(), drain.tensors.end());
      return row;
    }
    return {StallKind::kTransfers, {}, {}, {}, {}, {}, 1, 0};
  }

  /// Eq. 1 for a step: what the slowest memory takes for its part.
  double step_s() const {
    double seconds = std::max(in_s(), out_s());
    for (ComponentId parent : shared_)
      seconds = std::max(seconds, longest(in_, parent) + longest(out_, parent));
    return seconds;
  }

 private:
  struct Ends {
    double parent_s = 0, child_s = 0, setup_s = 0;
    std::vector<TensorId> tensors;
    double seconds() const { return std::max(parent_s, child_s) + setup_s; }
  };
  using Pairs = std::vector<std::pair<Pair, Ends>>;

  static Ends& of(const Pair& pair, Pairs* pairs) {
    for (auto& [other, ends] : *pairs)
      if (other == pair) return ends;
    return pairs->emplace_back(pair, Ends{}).second;
  }
  void add(TensorId tensor, double parent_s, double child_s, double setup_s, Ends* ends) const {
    if (keeps_tensors_ &&
        std::find(ends->tensors.begin(), ends->tensors.end(), tensor) == ends->tensors.end())
      ends->tensors.push_back(tensor);
    ends->parent_s += parent_s;
    ends->child_s += child_s;
    ends->setup_s = std::max(ends->setup_s, setup_s);
  }
  static double longest(const Pairs& pairs, std::optional<ComponentId> parent) {
    double seconds = 0;
    for (const auto& [pair, ends] : pairs)
      if (!parent || pair.first == *parent) seconds = std::max(seconds, ends.seconds());
    return seconds;
  }

  static StallRow row_of(StallKind kind, const Pairs& pairs, double seconds,
                         std::optional<ComponentId> parent) {
    StallRow row{kind, {}, {}, {}, {}, {}, 1, 0};
    for (const auto& [pair, ends] : pairs)
      if (ends.seconds() == seconds && (!parent || pair.first == *parent)) {
        row.outer = pair.first;
        row.inner = pair.second;
        row.tensors = ends.tensors;
        break;
      }
    return row;
  }

  Pairs in_, out_;
  std::vector<ComponentId> shared_;
  bool keeps_tensors_;
};

/// Eq. 2: n windows of what stands below, the first fill and the last drain, and in every step but
/// one what a transfer takes longer than a window.
Times stage_of(double n, const Times& window, const Transfers& transfers) {
  Times result;
  result.add(window, n);
  result.compulsory_s += transfers.in_s() + transfers.out_s();
  result.optional_s += (n - 1) * std::max(0.0, transfers.step_s() - window.total());
  return result;
}

/// The rows of stage_of's stalls, of one run of the stage.
void add_stalls(double n, const Times& window, const Transfers& transfers, Times& stage) {
  const auto add = [&](StallRow row, double times, double seconds) {
    row.times = times;
    row.seconds = seconds;
    if (seconds > 0) stage.stalls.push_back(std::move(row));
  };
  add(transfers.longest_fill(), 1, transfers.in_s());
  add(transfers.longest_drain(), 1, transfers.out_s());
  add(transfers.longest_step(), n - 1,
      (n - 1) * std::max(0.0, transfers.step_s() - window.total()));
}

/// A list of nodes: the root's, or that of a split's child.
struct ListPlace {
  std::size_t splits = 0;            ///< above it
  int parent = -1;                   ///< list of the split above
  std::size_t child = 0;             ///< which one of that split
  const SplitNode* split = nullptr;  ///< at its end
};

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// Where the parts of one nest stand among the splits of the tree.
struct Branch {
  std::vector<std::size_t> children;     ///< which child of each split on the way to the compute
  std::vector<const SplitNode*> splits;  ///< these splits
  std::vector<std::size_t> loops;        ///< per loop: splits above
  std::vector<std::size_t> storages;  ///< per storage: splits above the place where it takes effect
};

class StageTree {
 public:
  StageTree(const BoundProblem& problem, const Mapping& mapping, const FlatTree& tree,
            const std::vector<NestTraffic>& traffic, const std::vector<Shipment>& shipments,
            const std::vector<NestTime>& times, bool records_stalls = false)
      : problem_(problem),
        tree_(tree),
        traffic_(traffic),
        shipments_(shipments),
        times_(times),
        records_stalls_(records_stalls) {
    find_splits(mapping.nodes, {});
    std::sort(list_of_.begin(), list_of_.end());
    for (const Nest& nest : tree.nests) branches_.push_back(branch_of(nest));
    repeats_ = common_repeats();
  }

  Times run() {
    Times result;
    result.add(list(0, tree_.nests.size(), 0, {0, 1}, false), repeats_);
    return result;
  }
  /// After run(): how often the children of the outermost split run, and how long each time.
  double windows() const { return windows_; }
  double window_s() const { return window_s_; }

 private:
  // ---- the tree ------------------------------------------------------------------------------

  void find_splits(const NodeList& nodes, const ListPlace& place) {
    const auto list = static_cast<int>(lists_.size());
    lists_.push_back(place);
    for (const Node& node : nodes) {
      list_of_.emplace_back(&node, list);
      const auto* split = std::get_if<SplitNode>(&node.kind);
      if (split == nullptr) continue;
      lists_[static_cast<std::size_t>(list)].split = split;
      for (std::size_t c = 0; c < split->children.size(); ++c)
        find_splits(split->children[c], {place.splits + 1, list, c, nullptr});
    }
  }

  const ListPlace& list_of(const Node* node) const {
    const auto at = std::lower_bound(list_of_.begin(), list_of_.end(), std::pair{node, -1});
    return lists_[static_cast<std::size_t>(at->second)];
  }
  std::size_t splits_above(const Node* node) const { return list_of(node).splits; }

  Branch branch_of(const Nest& nest) const {
    Branch branch;
    const ListPlace* list = &list_of(nest.node);
    branch.children.resize(list->splits);
    branch.splits.resize(list->splits);
    while (list->parent >= 0) {
      branch.children[list->splits - 1] = list->child;
      list = &lists_[static_cast<std::size_t>(list->parent)];
      branch.splits[list->splits] = list->split;
    }
    for (std::uint32_t l = nest.loops_begin; l < nest.loops_end; ++l)
      branch.loops.push_back(splits_above(tree_.loops[l].node));
    for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree_.storages[s];
      std::size_t splits = splits_above(tree_.entries[storage.entry].node);
      if (storage.loops_above > 0)
        splits = std::max(splits, branch.loops[static_cast<std::size_t>(storage.loops_above) - 1]);
      branch.storages.push_back(takes_part(nest, s) ? splits : kNowhere);
    }
    return branch;
  }

  /// False for what stands below both ends of a copy: no stage waits for it.
  bool takes_part(const Nest& nest, std::uint32_t s) const {
    return s < reserved_end(problem_, tree_, nest) &&
           !lies_beyond_copy(problem_, tree_, nest, tree_.storages[s]);
  }

  /// Repetitions of the whole tree; Einsums that are repeated in different numbers are so one by
  /// one, inside the loops that they share.
  double common_repeats() const {
    const double repeats = repetitions(problem_, tree_.nests.front());
    for (const Nest& nest : tree_.nests)
      if (repetitions(problem_, nest) != repeats) return 1;
    return repeats;
  }

  const NestLoop& loop(const Nest& nest, std::size_t l) const {
    return tree_.loops[nest.loops_begin + l];
  }

  /// Whether loop number `l` of the nests from `first` on stands in their list below `splits`.
  bool has_loop(std::size_t first, std::size_t splits, std::size_t l) const {
    return l < branches_[first].loops.size() && branches_[first].loops[l] == splits;
  }

  template <class Body>
  void for_each_storage(std::size_t first, std::size_t end, std::size_t splits, std::size_t loops,
                        const Body& body) const {
    for (std::size_t n = first; n < end; ++n) {
      const Nest& nest = tree_.nests[n];
      for (std::uint32_t s = 0; s < branches_[n].storages.size(); ++s)
        if (branches_[n].storages[s] == splits &&
            static_cast<std::size_t>(tree_.storages[nest.storages_begin + s].loops_above) == loops)
          body(n, s);
    }
  }

  bool has_storage(std::size_t first, std::size_t end, std::size_t splits,
                   std::size_t loops) const {
    bool any = false;
    for_each_storage(first, end, splits, loops, [&](std::size_t, std::uint32_t) { any = true; });
    return any;
  }

  // ---- stages --------------------------------------------------------------------------------

  /// A place in a list: loops further out, and how many steps they take.
  struct Place {
    std::size_t loops = 0;
    double steps = 1;
  };

  /// Steps of loop number `l`; Einsums that share it may have tiles of different numbers.
  double steps_of(std::size_t first, std::size_t end, std::size_t l) const {
    double steps = 1;
    for (std::size_t n = first; n < end; ++n)
      if (const NestLoop& shared = loop(tree_.nests[n], l); !shared.spatial)
        steps = std::max(steps, static_cast<double>(shared.trips));
    return steps;
  }

  /// What nests [first, end) do at a place of the list below `splits` splits; `inside`: also below
  /// the storage nodes right there.
  Times list(std::size_t first, std::size_t end, std::size_t splits, Place place, bool inside) {
    double n = 1;
    std::size_t last = place.loops;
    if (inside || !has_storage(first, end, splits, last)) {
      while (has_loop(first, splits, last)) {
        n *= steps_of(first, end, last++);
        if (has_storage(first, end, splits, last)) break;
      }
      if (last == place.loops || !has_storage(first, end, splits, last))
        return innermost(first, end, splits, n, place.steps * n);
    }
    const Place inner{last, place.steps * n};
    Transfers transfers(records_stalls_);
    for_each_storage(first, end, splits, last, [&](std::size_t nest, std::uint32_t s) {
      add_transfers(nest, s, inner.steps, &transfers);
    });
    const Times window = list(first, end, splits, inner, true);
    return stage_of_nests(first, end, n, window, transfers);
  }

  /// stage_of, with the rows of its stalls where they are asked for.
  Times stage_of_nests(std::size_t first, std::size_t end, double n, const Times& window,
                       const Transfers& transfers) const {
    Times stage = stage_of(n, window, transfers);
    if (!records_stalls_) return stage;
    const std::size_t known = stage.stalls.size();
    add_stalls(n, window, transfers, stage);
    for (std::size_t s = known; s < stage.stalls.size(); ++s) complete(first, end, stage.stalls[s]);
    return stage;
  }

  /// The Einsums of a stage, the compute where it is the inner end, and the networks between.
  void complete(std::size_t first, std::size_t end, StallRow& row) const {
    for (std::size_t n = first; n < end; ++n) row.einsums.push_back(tree_.nests[n].einsum);
    std::sort(row.tensors.begin(), row.tensors.end());
    const BoundCompute& compute = *tree_.nests[first].compute;
    if (!row.inner) row.inner = compute.component;
    const int from = compute.depth[row.outer->index()];
    const int to = compute.depth[row.inner->index()];
    for (const PathNetwork& network : compute.networks)
      if (network.depth > std::min(from, to) && network.depth < std::max(from, to))
        row.networks.push_back(network.network);
  }

  /// n times what follows the last loop of a list: a compute, or the children of a split (eq. 5).
  /// `all_steps`: of this and all loops outside.
  Times innermost(std::size_t first, std::size_t end, std::size_t splits, double n,
                  double all_steps) {
    const std::vector<std::size_t>& path = branches_[first].children;
    if (path.size() == splits) return leaf(first, n, all_steps);
    Children children;
    Times result;
    for (std::size_t begin = first; begin < end;) {
      std::size_t last = begin + 1;
      while (last < end && branches_[last].children[splits] == branches_[begin].children[splits])
        ++last;
      std::size_t above = 0;  // loops outside the split
      while (above < branches_[begin].loops.size() && branches_[begin].loops[above] <= splits)
        ++above;
      Times child = list(begin, last, splits + 1, {above, all_steps}, false);
      child.collectives_s += collectives_of(begin, last, splits + 1);
      children.push_back({child, begin, last});
      begin = last;
    }
    const auto concurrent = std::find_if(
        tree_.concurrent.begin(), tree_.concurrent.end(), [&](const ConcurrentSplit& split) {
          return split.split == branches_[first].splits[splits] && split.runs_side_by_side();
        });
    const Times window = concurrent == tree_.concurrent.end()
                             ? one_after_the_other(children)
                             : side_by_side(*concurrent, children, all_steps);
    if (splits == 0) {
      windows_ = all_steps * repeats_;
      window_s_ = window.total();
    }
    result.add(window, n);
    return result;
  }

  /// The children of a split with their nests.
  struct Child {
    Times times;
    std::size_t begin = 0, end = 0;
  };
  using Children = std::vector<Child>;

  static Times one_after_the_other(const Children& children) {
    Times result;
    for (const Child& child : children) result.add(child.times);
    return result;
  }

  /// The longest child (eq. 5), and where several use a memory (or anything else), what they need
  /// of it together beyond that (eq. 6 and 7).
  Times side_by_side(const ConcurrentSplit& split, const Children& children,
                     double all_steps) const {
    Times result;
    for (const Child& child : children)
      if (child.times.total() > result.total()) result = child.times;
    double conflict_s = 0;
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      if (is_divided(problem_.arch, split, ComponentId(c))) continue;
      double together_s = 0;
      int users = 0;
      for (const Child& child : children) {
        const double busy_s =
            busy_seconds(problem_.arch, tree_, times_, static_cast<int>(child.begin),
                         static_cast<int>(child.end), split.depth + 1, ComponentId(c));
        together_s += busy_s / (all_steps * repeats_);
        users += busy_s > 0;
      }
      if (users > 1) conflict_s = std::max(conflict_s, together_s - result.total());
    }
    result.conflicts_s += conflict_s;
    return result;
  }

  /// Once what the collectives on tensors that nests [begin, end) make take (eq. 4), children of a
  /// split that is number `splits` on their way, and what that split forwards of them.
  double collectives_of(std::size_t begin, std::size_t end, std::size_t splits) const {
    double seconds = 0;
    for (const Shipment& sent : shipments_) {
      const auto maker = static_cast<std::size_t>(sent.maker - tree_.nests.data());
      const std::size_t below = splits_above(sent.node) + (sent.forwarded ? 1 : 0);
      if (maker < begin || maker >= end || below != splits) continue;
      seconds += sent.charge.latency_s / static_cast<double>(sent.executions) *
                 repetitions(problem_, *sent.maker) / repeats_;
    }
    return seconds;
  }

  /// One step's fill and drain of a storage; backing nodes move nothing.
  void add_transfers(std::size_t n, std::uint32_t s, double steps, Transfers* transfers) const {
    const Nest& nest = tree_.nests[n];
    const NestStorage& storage = tree_.storages[nest.storages_begin + s];
    const TransferTimes times(problem_, tree_, nest);
    const std::optional<std::uint32_t> parent = times.parent_of(s);
    if (!parent || !problem_.arch[storage.component].is_memory()) return;
    const StorageTraffic& mine = traffic_[n].storages[s];
    const Transfers::Pair pair{tree_.storages[nest.storages_begin + *parent].component,
                               storage.component};
    const TensorId tensor = problem_[nest.einsum].tensors[static_cast<std::size_t>(storage.tensor)];
    double unfilled = 1;  // steps for one in which a resident node is filled
    for (int l = storage.steps_begin; l < storage.steps_end; ++l)
      unfilled *= static_cast<double>(loop(nest, static_cast<std::size_t>(l)).trips);
    if (mine.unit_filled > 0)
      transfers->fill(tensor, pair, times.action_s(*parent, true, mine.parent_sent) / steps,
                      times.action_s(s, false, mine.unit_filled) / steps,
                      (times.setup_s(*parent, true) + times.setup_s(s, false)) / unfilled);
    if (mine.unit_drained > 0)
      transfers->drain(tensor, pair, times.action_s(*parent, false, mine.parent_received) / steps,
                       times.action_s(s, true, mine.unit_drained) / steps,
                       times.setup_s(*parent, false) + times.setup_s(s, true));
    if (times.has_shared_port(*parent)) transfers->share_port(pair.first);
  }

  /// A compute below `steps` steps of its list's loops, `all_steps` of all, with its operands and
  /// results.
  Times leaf(std::size_t n, double steps, double all_steps) const {
    const Nest& nest = tree_.nests[n];
    Times window;
    (is_simd(nest) ? window.simd_s : window.compute_s) =
        compute_s(nest, traffic_[n]) / all_steps + compute_setup_s(problem_, nest);
    Transfers operands(records_stalls_);
    const TransferTimes times(problem_, tree_, nest);
    for (std::uint32_t s = 0; s < branches_[n].storages.size(); ++s) {
      const NestStorage& storage = tree_.storages[nest.storages_begin + s];
      if (!problem_.arch[storage.component].is_memory() || has_memory_below(nest, s)) continue;
      const StorageTraffic& mine = traffic_[n].storages[s];
      const Transfers::Pair pair{storage.component, std::nullopt};
      const TensorId tensor =
          problem_[nest.einsum].tensors[static_cast<std::size_t>(storage.tensor)];
      const std::int64_t read = mine.unit_reads - mine.unit_drained;
      const std::int64_t written = mine.unit_writes - mine.unit_filled;
      if (read > 0)
        operands.fill(tensor, pair, times.action_s(s, true, read) / all_steps, 0,
                      times.setup_s(s, true));
      if (written > 0)
        operands.drain(tensor, pair, times.action_s(s, false, written) / all_steps, 0,
                       times.setup_s(s, false));
      if (times.has_shared_port(s)) operands.share_port(pair.first);
    }
    Times result;
    result.add(stage_of_nests(n, n + 1, steps, window, operands),
               repetitions(problem_, nest) / repeats_);
    return result;
  }

  /// Whether the compute's operands and results pass another memory of the tensor. A copy's nodes
  /// are no stations on a way: each one that takes part reads or writes by itself.
  bool has_memory_below(const Nest& nest, std::uint32_t s) const {
    if (problem_.workload[nest.einsum].is_copy_operation) return false;
    for (std::uint32_t other = nest.storages_begin + s + 1; other < nest.storages_end; ++other)
      if (tree_.storages[other].tensor == tree_.storages[nest.storages_begin + s].tensor &&
          problem_.arch[tree_.storages[other].component].is_memory())
        return true;
    return false;
  }

  /// Whether the compute has more than multiply-adds.
  bool is_simd(const Nest& nest) const {
    for (const Action& action : problem_.arch[nest.compute->component].actions)
      if (action.name != "compute" && action.name != "mul_add") return true;
    return false;
  }

  /// Busy time of the compute in one repetition.
  double compute_s(const Nest& nest, const NestTraffic& traffic) const {
    NestTraffic alone;
    alone.storages.resize(traffic.storages.size());
    alone.operations = traffic.operations;
    alone.unit_operations = traffic.unit_operations;
    NestPricer pricer(problem_, tree_, nullptr);
    pricer.add(nest, alone);
    return pricer.sequential_latency_s() / repetitions(problem_, nest);
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const std::vector<NestTraffic>& traffic_;
  const std::vector<Shipment>& shipments_;
  const std::vector<NestTime>& times_;  ///< per nest, where children run side by side
  std::vector<ListPlace> lists_;
  std::vector<std::pair<const Node*, int>> list_of_;  ///< by node: index into lists_
  std::vector<Branch> branches_;                      ///< per nest
  double repeats_ = 1;
  double windows_ = 0, window_s_ = 0;
  bool records_stalls_ = false;
};

StageTree stages_of(const CountedMapping& counted, bool records_stalls = false) {
  const CountedNests& nests = counted.nests();
  return {counted.problem(), counted.mapping(),        nests.tree,    nests.traffic,
          nests.shipments,   nests.overlapped.times(), records_stalls};
}

class StagedPolicy final : public LatencyMethod {
 public:
  std::string name() const override { return "staged"; }
  LatencyBreakdown latency(const CountedMapping& counted) const override {
    const Times times = stages_of(counted).run();
    const double missing_s = std::max(0.0, counted.overlap_s() - times.total());
    return {{"compute", times.compute_s},
            {"simd", times.simd_s},
            {"compulsory_stall", times.compulsory_s},
            {"optional_stall", times.optional_s + missing_s},
            {"collectives", times.collectives_s},
            {"conflicts", times.conflicts_s}};
  }
};

constinit const StagedPolicy staged;

}  // namespace

constinit const LatencyPolicy LatencyPolicy::kStaged(staged);

StageTotals stage_totals(const CountedMapping& counted) {
  StageTree stages = stages_of(counted);
  const double seconds = stages.run().total();
  return {seconds, stages.windows(), stages.window_s()};
}

std::vector<StallRow> stall_rows(const CountedMapping& counted) {
  Times times = stages_of(counted, true).run();
  const double missing_s = counted.overlap_s() - times.total();
  if (missing_s > 0)
    times.stalls.push_back({StallKind::kOverlap, {}, {}, {}, {}, {}, 1, missing_s});
  std::stable_sort(times.stalls.begin(), times.stalls.end(),
                   [](const StallRow& a, const StallRow& b) { return a.seconds > b.seconds; });
  return std::move(times.stalls);
}

}  // namespace sluice
