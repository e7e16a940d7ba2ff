#include "model/tree/flatten.h"

#include <algorithm>
#include <span>

#include "sluice/mapping/loop_tiles.h"
#include "sluice/mapping/placement.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

struct StackLoop {
  const Node* node = nullptr;
  const std::vector<RankVariableId>* variables = nullptr;
  std::int64_t tile = 1;
  std::int64_t first = 0;
  bool spatial = false;
  bool trivial = false;  ///< one trip for everything below it
  ComponentId component;
  std::uint32_t dimension = 0;
};

struct StackStorage {
  std::uint32_t entry = 0;
  int slides_over = -1;  ///< index into the stack of loops
  std::uint32_t level = 0;
};

/// A loop or storage of the current path, in the order in which they take effect.
struct StackItem {
  bool is_loop = false;
  std::uint32_t index = 0;
};

/// A list of the current path and, while one of its children is walked, that child's computes.
struct Level {
  bool in_split = false;
  int child_begin = 0;
  int child_end = 0;
};

struct Interval {
  int begin = 0;
  int end = 0;
};

struct PendingStorage {
  std::size_t before = 0;
  std::uint32_t entry = 0;
  std::optional<std::size_t> slides_over;
};

class Flattener {
 public:
  Flattener(const BoundProblem& problem, ViolationReport& report, FlatTree& tree)
      : problem_(problem), report_(report), tree_(tree), tiles_(problem.workload) {
    for (const Component& component : problem.arch.components)
      is_memory_.push_back(component.is_memory() ? 1 : 0);
  }

  void run(const Mapping& mapping) {
    tree_.place_of.assign(problem_.workload.einsums.size(), -1);
    number(mapping.nodes);
    tree_.loops.reserve(n_loops_);
    tree_.entries.reserve(n_storages_);
    tree_.storages.reserve(2 * n_storages_);
    tree_.live.reserve(2 * n_storages_);
    for (std::size_t e = 0; e < tree_.place_of.size(); ++e) {
      if (tree_.place_of[e] >= 0) continue;
      report_.add(ViolationKind::kCompute, nullptr,
                  "The mapping has no compute for the Einsum " + report_.name(EinsumId(e)) + ".",
                  EinsumId(e));
    }
    tree_.nests.reserve(static_cast<std::size_t>(n_computes_));
    walk(mapping.nodes);
    for (FlatCollective& flat : tree_.collectives) find_ends(flat);
    for (FlatForward& forward : tree_.forwards) find_ends(forward);
  }

 private:
  // --- first pass: the order of the computes, and what cannot be priced
  // ---------------------------

  void number(const NodeList& list) {
    const std::size_t index = intervals_.size();
    intervals_.push_back({n_computes_, n_computes_});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool ends = std::holds_alternative<SplitNode>(list[i].kind) ||
                        std::holds_alternative<ComputeNode>(list[i].kind);
      if (ends && i + 1 < list.size()) {
        report_.add(ViolationKind::kCompute, &list[i + 1],
                    "A node follows a compute or a split in the same list; nothing runs below it.");
      }
      std::visit([&](const auto& node) { number_node(list[i], node); }, list[i].kind);
    }
    intervals_[index].end = n_computes_;
  }

  void number_node(const Node& node, const StorageNode& storage) {
    n_storages_ += storage.tensors.size();
    if (storage.shared_by || storage.over || storage.along)
      unsupported(node,
                  "`shared_by` (a tile shared by peers) of " + report_.names(storage.tensors));
  }
  void number_node(const Node&, const TemporalNode&) { ++n_loops_; }
  void number_node(const Node&, const SpatialNode&) { ++n_loops_; }
  void number_node(const Node&, const CollectiveNode&) {}
  void number_node(const Node& node, const ComputeNode& compute) {
    int& place = tree_.place_of[compute.einsum.index()];
    if (place >= 0) {
      report_.add(ViolationKind::kCompute, &node,
                  "The Einsum " + report_.name(compute.einsum) + " is computed twice.",
                  compute.einsum);
    }
    place = n_computes_++;
    einsum_at_.push_back(compute.einsum);
  }
  void number_node(const Node&, const SplitNode& split) {
    for (const NodeList& child : split.children) number(child);
  }

  void unsupported(const Node& node, const std::string& what) {
    report_.add(ViolationKind::kUnsupportedNode, &node, "The model cannot price " + what + " yet.");
  }

  // --- who is served
  // ------------------------------------------------------------------------------

  /// Calls `function(einsum)` for the Einsums within `interval` that use a tensor and that `node`
  /// serves.
  template <class Function>
  void for_each_served(TensorId tensor, const StorageNode& node, Interval interval,
                       Function function) const {
    const auto visit = [&](EinsumId einsum) {
      const int place = tree_.place_of[einsum.index()];
      if (place < interval.begin || place >= interval.end) return;
      if (!node.einsums.empty() &&
          std::find(node.einsums.begin(), node.einsums.end(), einsum) == node.einsums.end()) {
        return;
      }
      function(einsum);
    };
    if (interval.end - interval.begin == 1) {
      const EinsumId only = einsum_at_[static_cast<std::size_t>(interval.begin)];
      if (problem_[only].local_tensor[tensor.index()] >= 0) visit(only);
      return;
    }
    const std::optional<EinsumId> producer = problem_.roles.producer[tensor.index()];
    if (producer) visit(*producer);
    for (EinsumId consumer : problem_.roles.consumers[tensor.index()])
      if (consumer != producer) visit(consumer);
  }

  bool serves(const StorageNode& node, TensorId tensor, EinsumId einsum) const {
    return problem_[einsum].local_tensor[tensor.index()] >= 0 &&
           (node.einsums.empty() ||
            std::find(node.einsums.begin(), node.einsums.end(), einsum) != node.einsums.end());
  }

  /// True if both nodes (each for one tensor) serve some Einsum of the interval.
  bool serve_together(const StorageNode& a, TensorId tensor_a, const StorageNode& b,
                      TensorId tensor_b, Interval interval) const {
    bool together = false;
    for_each_served(tensor_a, a, interval,
                    [&](EinsumId einsum) { together |= serves(b, tensor_b, einsum); });
    return together;
  }

  // --- where storage nodes take effect
  // ------------------------------------------------------------

  Passage passage(const Node& node, bool trivial, const StorageNode& storage, TensorId tensor,
                  Interval interval) const {
    if (const StorageNode* other = std::get_if<StorageNode>(&node.kind)) {
      for (TensorId blocker : other->tensors)
        if (serve_together(storage, tensor, *other, blocker, interval)) return Passage::kStop;
      return Passage::kThrough;
    }
    if (const SpatialNode* loop = std::get_if<SpatialNode>(&node.kind))
      return loop->component == storage.component || trivial ? Passage::kThrough : Passage::kStop;
    const TemporalNode* loop = std::get_if<TemporalNode>(&node.kind);
    if (!loop) return Passage::kStop;
    if (trivial) return Passage::kThrough;
    bool all_relevant = true, none_irrelevant = true;
    for_each_served(tensor, storage, interval, [&](EinsumId id) {
      const BoundEinsum& einsum = problem_[id];
      const auto t = static_cast<std::size_t>(einsum.local_tensor[tensor.index()]);
      Relevance seen = Relevance::kIrrelevant;
      for (RankVariableId variable : loop->variables) {
        const int v = einsum.local_variable[variable.index()];
        if (v < 0) continue;
        seen = einsum.held_relevance[t][static_cast<std::size_t>(v)];
        break;
      }
      all_relevant &= seen == Relevance::kRelevant;
      none_irrelevant &= seen != Relevance::kIrrelevant;
    });
    if (all_relevant) return Passage::kThrough;
    return none_irrelevant ? Passage::kSlide : Passage::kStop;
  }

  void add_entries(const NodeList& list, std::size_t index, Interval interval,
                   std::size_t pending_begin, std::size_t trivial_begin) {
    const StorageNode& storage = std::get<StorageNode>(list[index].kind);
    for (std::size_t k = 0; k < storage.tensors.size(); ++k) {
      const TensorId tensor = storage.tensors[k];
      TreeEntry entry{tensor, storage.component, &list[index]};
      entry.concurrency = depth_;
      entry.first_user = interval.end;
      for_each_served(tensor, storage, interval, [&](EinsumId einsum) {
        const int place = tree_.place_of[einsum.index()];
        entry.first_user = std::min(entry.first_user, place);
        entry.last_user = std::max(entry.last_user, place);
      });
      if (entry.last_user < 0) {
        report_.add(ViolationKind::kForbiddenStorage, &list[index],
                    report_.name(storage.component) + " stores " + report_.name(tensor) +
                        " where no Einsum below uses it.");
      }
      entry.backing = is_memory_[storage.component.index()] &&
                      !is_held_above(storage, tensor, interval, pending_begin);
      if (entry.backing && storage.einsums.empty()) widen_to_all_users(entry);
      Placement place{index, std::nullopt};
      bool blocked = false;
      for (std::size_t later = k + 1; later < storage.tensors.size() && !blocked; ++later)
        blocked = serve_together(storage, tensor, storage, storage.tensors[later], interval);
      if (!blocked) {
        const bool stays = entry.backing || (storage.resident && pipelines_ > 0);
        place = placement_of(list, index, stays, [&](std::size_t i) {
          return passage(list[i], trivial_[trivial_begin + i] != 0, storage, tensor, interval);
        });
      }
      pending_.push_back(
          {place.before, static_cast<std::uint32_t>(tree_.entries.size()), place.slides_over});
      tree_.entries.push_back(entry);
    }
  }

  /// A shared tensor's backing may stand in several branches; it lives from the first to the last
  /// Einsum that uses it, wherever that is.
  void widen_to_all_users(TreeEntry& entry) const {
    for_each_served(entry.tensor, StorageNode{}, {0, n_computes_}, [&](EinsumId einsum) {
      const int place = tree_.place_of[einsum.index()];
      entry.first_user = std::min(entry.first_user, place);
      entry.last_user = std::max(entry.last_user, place);
    });
  }

  bool is_held_above(const StorageNode& storage, TensorId tensor, Interval interval,
                     std::size_t pending_begin) const {
    const auto holds = [&](std::uint32_t index) {
      const TreeEntry& entry = tree_.entries[index];
      return entry.tensor == tensor && is_memory_[entry.component.index()] &&
             serve_together(storage, tensor, std::get<StorageNode>(entry.node->kind), tensor,
                            interval);
    };
    for (const StackStorage& above : storages_)
      if (holds(above.entry)) return true;
    for (std::size_t i = pending_begin; i < pending_.size(); ++i)
      if (holds(pending_[i].entry)) return true;
    return false;
  }

  // --- second pass: the nests
  // ---------------------------------------------------------------------

  void walk(const NodeList& list) {
    const Interval interval = intervals_[next_interval_++];
    const auto level = static_cast<std::uint32_t>(levels_.size());
    levels_.push_back({});
    const std::size_t items = items_.size(), loops = loops_.size(), storages = storages_.size();
    const std::size_t pending = pending_.size(), trivial = trivial_.size();
    mark_trivial_loops(list, interval);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::holds_alternative<StorageNode>(list[i].kind))
        add_entries(list, i, interval, pending, trivial);
    const std::size_t pending_end = pending_.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t s = pending; s < pending_end; ++s)
        if (pending_[s].before == i) push_storage(list, pending_[s], loops, level);
      if (const auto* loop = std::get_if<TemporalNode>(&list[i].kind)) {
        push_loop({&list[i],
                   &loop->variables,
                   loop->tile_shape,
                   loop->initial_tile_shape.value_or(0),
                   false,
                   trivial_[trivial + i] != 0,
                   {},
                   0},
                  storages);
      } else if (const auto* spatial = std::get_if<SpatialNode>(&list[i].kind)) {
        push_loop({&list[i], &spatial->variables, spatial->tile_shape,
                   spatial->initial_tile_shape.value_or(0), true, trivial_[trivial + i] != 0,
                   spatial->component, spatial->dimension},
                  storages);
      } else if (const auto* split = std::get_if<SplitNode>(&list[i].kind)) {
        walk_children(list[i], *split, interval, level, items);
      } else if (const auto* compute = std::get_if<ComputeNode>(&list[i].kind)) {
        add_nest(list[i], *compute);
      } else if (std::holds_alternative<CollectiveNode>(list[i].kind)) {
        report_.add(ViolationKind::kCollective, &list[i],
                    "A collective is a child of a split, not a step on the way to a compute.");
      }
    }
    items_.resize(items);
    loops_.resize(loops);
    storages_.resize(storages);
    pending_.resize(pending);
    trivial_.resize(trivial);
    levels_.resize(level);
  }

  void walk_children(const Node& node, const SplitNode& split, Interval interval,
                     std::uint32_t level, std::size_t list_items) {
    const bool concurrent = split.kind != SplitKind::kSequential;
    const std::size_t index = tree_.concurrent.size();
    if (concurrent) add_concurrent(node, split, interval, list_items);
    depth_ += concurrent ? 1 : 0;
    const int pipelines = pipelines_;
    pipelines_ += concurrent && !tree_.concurrent[index].steps.empty() ? 1 : 0;
    for (const NodeList& child : split.children) {
      const Interval below = intervals_[next_interval_];
      levels_[level] = concurrent ? Level{true, interval.begin, interval.end}
                                  : Level{true, below.begin, below.end};
      if (is_collective(child)) {
        add_collective(child.front(), below.begin, interval);
        continue;
      }
      if (concurrent) tree_.concurrent[index].stages.push_back(below.begin);
      walk(child);
    }
    depth_ -= concurrent ? 1 : 0;
    pipelines_ = pipelines;
  }

  /// Its steps are the temporal loops right above it (spatial ones and those of one step take no
  /// time), up to the next storage node or split; the storage nodes below them are the ones that it
  /// holds.
  void add_concurrent(const Node& node, const SplitNode& split, Interval interval,
                      std::size_t list_items) {
    ConcurrentSplit& flat = tree_.concurrent.emplace_back();
    flat.split = &split;
    flat.node = &node;
    flat.depth = depth_;
    flat.begin = interval.begin;
    flat.end = interval.end;
    for (const StackLoop& loop : loops_) flat.loops_above.push_back(loop.node);
    for (const StackStorage& storage : storages_) flat.held_above.push_back(storage.entry);
    for (const auto& [tensor, memory] : split.forward)
      tree_.forwards.push_back({tensor, memory, tree_.concurrent.size() - 1, -1, {}});
    if (split.kind != SplitKind::kPipeline) return;
    bool has_loops = false;
    for (std::size_t i = items_.size(); i-- > list_items;) {
      if (!items_[i].is_loop) {
        if (has_loops) break;
        flat.held.push_back(storages_[items_[i].index].entry);
        continue;
      }
      const StackLoop& loop = loops_[items_[i].index];
      if (loop.spatial || loop.trivial) continue;
      has_loops = true;
      flat.steps.push_back(loop.node);
    }
  }

  static bool is_collective(const NodeList& child) {
    return child.size() == 1 && std::holds_alternative<CollectiveNode>(child.front().kind);
  }

  void add_collective(const Node& node, int place, Interval split) {
    ++next_interval_;  // its own list is not walked
    FlatCollective& flat = tree_.collectives.emplace_back();
    flat.collective = &std::get<CollectiveNode>(node.kind);
    flat.node = &node;
    flat.place = place;
    flat.split_begin = split.begin;
    flat.split_end = split.end;
    for (const StackLoop& loop : loops_) flat.loops_above.push_back(loop.node);
    flat.maker_loops = flat.loops_above;
    flat.moves = true;
    for (const StackStorage& storage : storages_) {
      const TreeEntry& entry = tree_.entries[storage.entry];
      flat.moves &= entry.tensor != flat.collective->tensor || !is_memory_[entry.component.index()];
    }
    flat.live_begin = static_cast<std::uint32_t>(tree_.live.size());
    add_live();  // its level's child has no computes: what is used before and after
    flat.live_end = static_cast<std::uint32_t>(tree_.live.size());
  }

  /// Once all nests are there: what the maker of a collective that moves holds, and its readers.
  void find_ends(FlatCollective& flat) {
    const TensorId tensor = flat.collective->tensor;
    const std::optional<EinsumId> maker = problem_.roles.producer[tensor.index()];
    const int made = maker ? tree_.place_of[maker->index()] : -1;
    if (!flat.moves || made < 0) return;
    const auto node_of = [&](int place) -> const NestStorage* {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
        if (const TreeEntry& entry = tree_.entries[tree_.storages[s].entry];
            entry.tensor == tensor && entry.backing)
          return &tree_.storages[s];
      return nullptr;
    };
    if (const NestStorage* sent = node_of(made)) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(made)];
      TreeEntry& entry = tree_.entries[sent->entry];
      entry.first_user = entry.last_user = made;
      entry.sent_at = flat.place;
      flat.maker_loops.clear();
      for (int l = 0; l < sent->loops_above; ++l)
        flat.maker_loops.push_back(
            tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)].node);
    }
    for (EinsumId reader : problem_.roles.consumers[tensor.index()]) {
      const int place = tree_.place_of[reader.index()];
      if (place < 0 || place == made) continue;
      const NestStorage* received = node_of(place);
      if (!received) continue;
      flat.readers.push_back({place, received->loops_above});
      TreeEntry& entry = tree_.entries[received->entry];
      if (entry.received_at < 0) entry.first_user = entry.last_user = place;
      entry.received_at = flat.place;
      entry.first_user = std::min(entry.first_user, place);
      entry.last_user = std::max(entry.last_user, place);
    }
  }

  /// Who makes and who reads what a pipelined split forwards; each has a reservation of its own,
  /// which is there as long as its child of the split runs.
  void find_ends(FlatForward& forward) {
    const std::optional<EinsumId> maker = problem_.roles.producer[forward.tensor.index()];
    if (maker) forward.maker = tree_.place_of[maker->index()];
    for (EinsumId reader : problem_.roles.consumers[forward.tensor.index()])
      if (const int place = tree_.place_of[reader.index()]; place >= 0)
        forward.readers.push_back(place);
    const ConcurrentSplit& split = tree_.concurrent[forward.split];
    const auto hold = [&](int place) {
      if (place < 0 || !split.has(place)) return;
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
        TreeEntry& entry = tree_.entries[tree_.storages[s].entry];
        if (entry.tensor != forward.tensor || !entry.backing || entry.concurrency <= split.depth)
          continue;
        entry.first_user = entry.forwarded ? std::min(entry.first_user, place) : place;
        entry.last_user = entry.forwarded ? std::max(entry.last_user, place) : place;
        entry.forwarded = true;
        stay(split, place, entry);
      }
    };
    hold(forward.maker);
    for (int reader : forward.readers) hold(reader);
  }

  /// A loop of one step does nothing; it must not change what a node means.
  void mark_trivial_loops(const NodeList& list, Interval interval) {
    const std::span<const EinsumId> below(einsum_at_.data() + interval.begin,
                                          einsum_at_.data() + interval.end);
    for (const Node& node : list) {
      bool trivial = false;
      if (const TemporalNode* loop = std::get_if<TemporalNode>(&node.kind))
        trivial = tiles_.enter(
            {loop->variables, loop->tile_shape, loop->initial_tile_shape.value_or(0)}, below);
      if (const SpatialNode* loop = std::get_if<SpatialNode>(&node.kind))
        trivial = tiles_.enter(
            {loop->variables, loop->tile_shape, loop->initial_tile_shape.value_or(0)}, below);
      trivial_.push_back(trivial ? 1 : 0);
    }
  }

  void push_storage(const NodeList& list, const PendingStorage& pending, std::size_t loops_begin,
                    std::uint32_t level) {
    int slides_over = -1;
    if (pending.slides_over) {
      std::size_t loop = loops_begin;
      for (std::size_t i = 0; i < *pending.slides_over; ++i)
        if (std::holds_alternative<TemporalNode>(list[i].kind) ||
            std::holds_alternative<SpatialNode>(list[i].kind)) {
          ++loop;
        }
      slides_over = static_cast<int>(loop);
    }
    items_.push_back({false, static_cast<std::uint32_t>(storages_.size())});
    storages_.push_back({pending.entry, slides_over, level});
    keep_between_visits(tree_.entries[pending.entry]);
  }

  void keep_between_visits(TreeEntry& entry) const {
    if (entry.backing || !std::get<StorageNode>(entry.node->kind).incremental) return;
    for (const StackLoop& loop : loops_) {
      if (loop.spatial || loop.trivial) continue;
      entry.kept_during = loop.node;
      return;
    }
  }

  void push_loop(StackLoop loop, std::size_t storages_begin) {
    if (!loop.trivial) {
      for (std::size_t s = storages_begin; s < storages_.size(); ++s)
        tree_.entries[storages_[s].entry].loop_below = true;
    }
    items_.push_back({true, static_cast<std::uint32_t>(loops_.size())});
    loops_.push_back(loop);
  }

  void add_nest(const Node& node, const ComputeNode& compute) {
    const BoundEinsum& einsum = problem_[compute.einsum];
    Nest nest;
    nest.einsum = compute.einsum;
    nest.node = &node;
    for (const BoundCompute& candidate : einsum.computes)
      if (candidate.component == compute.component) nest.compute = &candidate;
    nest.loops_begin = static_cast<std::uint32_t>(tree_.loops.size());
    nest.storages_begin = static_cast<std::uint32_t>(tree_.storages.size());
    nest_loop_of_.assign(loops_.size(), -1);
    for (const StackItem& item : items_) {
      if (item.is_loop) {
        add_loop(loops_[item.index], item.index, einsum, nest);
      } else {
        add_storage(storages_[item.index], einsum, nest);
      }
    }
    nest.loops_end = static_cast<std::uint32_t>(tree_.loops.size());
    nest.storages_end = static_cast<std::uint32_t>(tree_.storages.size());
    nest.live_begin = static_cast<std::uint32_t>(tree_.live.size());
    add_live();
    nest.live_end = static_cast<std::uint32_t>(tree_.live.size());
    tree_.nests.push_back(nest);
  }

  void add_loop(const StackLoop& loop, std::uint32_t index, const BoundEinsum& einsum,
                const Nest& nest) {
    int variable = -1;
    for (RankVariableId candidate : *loop.variables) {
      const int local = einsum.local_variable[candidate.index()];
      if (local < 0) continue;
      variable = local;
      break;
    }
    if (variable < 0) {
      if (!loop.trivial) report_repetition(loop, einsum);
      return;
    }
    nest_loop_of_[index] = static_cast<int>(tree_.loops.size() - nest.loops_begin);
    NestLoop& flat = tree_.loops.emplace_back();
    flat.variable = variable;
    flat.spatial = loop.spatial;
    flat.component = loop.component;
    flat.dimension = loop.dimension;
    flat.tile = loop.tile;
    flat.first = loop.first;
    flat.node = loop.node;
  }

  void report_repetition(const StackLoop& loop, const BoundEinsum& einsum) {
    std::string variables;
    for (RankVariableId variable : *loop.variables)
      variables += (variables.empty() ? "" : ", ") + report_.name(variable);
    report_.add(ViolationKind::kRecomputation, loop.node,
                "The loop over " + variables + " repeats the Einsum " +
                    report_.name(einsum.einsum) + ", which does not use it.",
                einsum.einsum);
  }

  void add_storage(const StackStorage& storage, const BoundEinsum& einsum, const Nest& nest) {
    const TreeEntry& entry = tree_.entries[storage.entry];
    const int tensor = einsum.local_tensor[entry.tensor.index()];
    if (tensor < 0) return;
    if (!serves(std::get<StorageNode>(entry.node->kind), entry.tensor, einsum.einsum)) return;
    NestStorage& flat = tree_.storages.emplace_back();
    flat.tensor = tensor;
    flat.component = entry.component;
    flat.loops_above = static_cast<int>(tree_.loops.size() - nest.loops_begin);
    flat.entry = storage.entry;
    flat.incremental = !entry.backing && std::get<StorageNode>(entry.node->kind).incremental;
    if (storage.slides_over >= 0)
      flat.slides_over = nest_loop_of_[static_cast<std::size_t>(storage.slides_over)];
  }

  void add_live() {
    for (const StackStorage& storage : storages_) {
      const TreeEntry& entry = tree_.entries[storage.entry];
      const Level& level = levels_[storage.level];
      const bool alive =
          !level.in_split || entry.loop_below ||
          (level.child_end > entry.first_user && level.child_begin <= entry.last_user);
      if (alive) tree_.live.push_back(storage.entry);
    }
  }

  const BoundProblem& problem_;
  ViolationReport& report_;
  FlatTree& tree_;
  int n_computes_ = 0;
  int depth_ = 0;                             ///< concurrent splits on the way down
  int pipelines_ = 0;                         ///< those that are pipelined, with steps
  std::size_t n_loops_ = 0, n_storages_ = 0;  ///< in the text, tensors counted one by one
  std::vector<char> is_memory_;               ///< per component
  std::vector<EinsumId> einsum_at_;           ///< per place
  std::size_t next_interval_ = 0;
  std::vector<Interval> intervals_;  ///< computes below each list, lists in order of first visit
  LoopTiles tiles_;                  ///< of the Einsums on the way down
  std::vector<std::uint8_t> trivial_;
  std::vector<PendingStorage> pending_;
  std::vector<StackItem> items_;
  std::vector<StackLoop> loops_;
  std::vector<StackStorage> storages_;
  std::vector<Level> levels_;
  std::vector<int> nest_loop_of_;
};

}  // namespace

FlatTree flatten(const BoundProblem& problem, const Mapping& mapping, ViolationReport& report) {
  FlatTree tree;
  Flattener(problem, report, tree).run(mapping);
  return tree;
}

}  // namespace sluice
