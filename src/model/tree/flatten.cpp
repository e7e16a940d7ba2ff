#include "model/tree/flatten.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "mapping/loop_tiles.h"
#include "mapping/placement.h"
#include "model/tree/interval_lists.h"
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
  std::uint32_t tree_loop = 0;
};

constexpr int kNone = -1;

struct StackStorage {
  std::uint32_t entry = 0;
  int slides_over = kNone;  ///< index into the stack of loops
  std::uint32_t item = 0;   ///< its place on the path
  int above = kNone;        ///< the next storage node of the tensor further up the stack
};

/// A loop or storage of the current path, in the order in which they take effect.
struct StackItem {
  bool is_loop = false;
  std::uint32_t index = 0;
};

struct PendingStorage {
  std::size_t before = 0;
  std::uint32_t entry = 0;
  std::optional<std::size_t> slides_over;
  int above = kNone;  ///< the one of the tensor that was pushed before it
};

/// Indices of values by `key`, those of one key in their order.
template <class Values, class Key>
std::vector<std::uint32_t> sorted_indices(const Values& values, Key key) {
  std::vector<std::uint32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0U);
  std::stable_sort(indices.begin(), indices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key(values[a]) < key(values[b]);
  });
  return indices;
}

/// Storage nodes of more tensors are looked up, not searched.
constexpr std::size_t kFewTensors = 16;

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
    top_storage_.assign(problem_.workload.tensors.size(), kNone);
    top_pending_.assign(problem_.workload.tensors.size(), kNone);
    find_users();
    tree_.loops.reserve(n_loops_);
    tree_.tree_loops.reserve(n_loops_);
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
    tree_.collectives_by_tensor = sorted_indices(
        tree_.collectives, [](const FlatCollective& flat) { return flat.collective->tensor; });
    tree_.forwards_by_tensor =
        sorted_indices(tree_.forwards, [](const FlatForward& forward) { return forward.tensor; });
  }

 private:
  // --- first pass: the order of the computes, and what cannot be priced
  // ---------------------------

  void number(const NodeList& list) {
    const std::size_t index = intervals_.size();
    intervals_.push_back({n_computes_, n_computes_});
    behind_.push_back(0);
    for (std::size_t i = 0; i < list.size(); ++i) {
      list_end_ = &list.back();
      const bool ends = std::holds_alternative<SplitNode>(list[i].kind) ||
                        std::holds_alternative<ComputeNode>(list[i].kind);
      if (ends && i + 1 < list.size()) {
        report_.add(ViolationKind::kCompute, &list[i + 1],
                    "A node follows a compute or a split in the same list; nothing runs below it.");
      }
      std::visit([&](const auto& node) { number_node(list[i], node); }, list[i].kind);
    }
    intervals_[index].end = n_computes_;
    behind_[index] = intervals_.size();
  }

  void number_node(const Node& node, const StorageNode& storage) {
    n_storages_ += storage.tensors.size();
    if (storage.tensors.size() > kFewTensors) index_tensors(storage);
    if (storage.shared_by && !std::holds_alternative<ComputeNode>(list_end_->kind))
      unsupported(node, "`shared_by` of " + report_.names(storage.tensors) + " above a split");
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

  void index_tensors(const StorageNode& storage) {
    std::unordered_map<std::size_t, std::size_t>& last = last_of_[&storage];
    for (std::size_t k = 0; k < storage.tensors.size(); ++k)
      last.insert_or_assign(storage.tensors[k].index(), k);
  }

  /// The places of the first and last Einsum that uses each tensor.
  void find_users() {
    users_.assign(problem_.workload.tensors.size(), {n_computes_, 0});
    for (int place = 0; place < n_computes_; ++place) {
      const EinsumId einsum = einsum_at_[static_cast<std::size_t>(place)];
      if (tree_.place_of[einsum.index()] != place) continue;  // computed twice
      for (TensorId tensor : problem_[einsum].tensors) {
        PlaceRange& users = users_[tensor.index()];
        users = {std::min(users.begin, place), place + 1};
      }
    }
  }

  void unsupported(const Node& node, const std::string& what) {
    report_.add(ViolationKind::kUnsupportedNode, &node, "The model cannot price " + what + " yet.");
  }

  // --- who is served
  // ------------------------------------------------------------------------------

  /// Calls `function(einsum)` for the Einsums within `interval` that use a tensor and that `node`
  /// serves.
  template <class Function>
  void for_each_served(TensorId tensor, const StorageNode& node, PlaceRange interval,
                       Function function) const {
    const auto visit = [&](EinsumId einsum) {
      const int place = tree_.place_of[einsum.index()];
      if (place < interval.begin || place >= interval.end) return;
      if (is_listed(node, einsum)) function(einsum);
    };
    const std::vector<EinsumId>& consumers = problem_.roles.consumers[tensor.index()];
    const auto n_computes = static_cast<std::size_t>(interval.end - interval.begin);
    if (n_computes == 1 || n_computes < consumers.size()) {
      for (int place = interval.begin; place < interval.end; ++place) {
        const EinsumId einsum = einsum_at_[static_cast<std::size_t>(place)];
        const bool is_first = n_computes == 1 || tree_.place_of[einsum.index()] == place;
        if (is_first && problem_[einsum].local_tensor[tensor.index()] >= 0) visit(einsum);
      }
      return;
    }
    const std::vector<EinsumId>& makers = problem_.roles.makers[tensor.index()];
    for (EinsumId maker : makers) visit(maker);
    for (EinsumId consumer : consumers)
      if (std::find(makers.begin(), makers.end(), consumer) == makers.end()) visit(consumer);
  }

  static bool is_listed(const StorageNode& node, EinsumId einsum) {
    return node.einsums.empty() ||
           std::find(node.einsums.begin(), node.einsums.end(), einsum) != node.einsums.end();
  }

  bool serves(const StorageNode& node, TensorId tensor, EinsumId einsum) const {
    return problem_[einsum].local_tensor[tensor.index()] >= 0 && is_listed(node, einsum);
  }

  /// True if `node` serves an Einsum one of its tensors, from number `from` on.
  bool serves_any(const StorageNode& node, std::size_t from, EinsumId einsum) const {
    if (!is_listed(node, einsum)) return false;
    if (node.tensors.size() <= kFewTensors)
      return std::any_of(
          node.tensors.begin() + static_cast<std::ptrdiff_t>(from), node.tensors.end(),
          [&](TensorId tensor) { return problem_[einsum].local_tensor[tensor.index()] >= 0; });
    const auto& last = last_of_.at(&node);
    const std::vector<TensorId>& own = problem_[einsum].tensors;
    return std::any_of(own.begin(), own.end(), [&](TensorId tensor) {
      const auto found = last.find(tensor.index());
      return found != last.end() && found->second >= from;
    });
  }

  /// True if some Einsum of the interval is served by `a` for one tensor, and by `b` for one of its
  /// tensors from number `from` on.
  bool serve_together(const StorageNode& a, TensorId tensor, const StorageNode& b, std::size_t from,
                      PlaceRange interval) const {
    bool together = false;
    for_each_served(tensor, a, interval,
                    [&](EinsumId einsum) { together |= serves_any(b, from, einsum); });
    return together;
  }

  // --- where storage nodes take effect
  // ------------------------------------------------------------

  Passage passage(const Node& node, bool trivial, const StorageNode& storage, TensorId tensor,
                  PlaceRange interval) const {
    if (const StorageNode* other = std::get_if<StorageNode>(&node.kind)) {
      return serve_together(storage, tensor, *other, 0, interval) ? Passage::kStop
                                                                  : Passage::kThrough;
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

  void add_entries(const NodeList& list, std::size_t index, PlaceRange interval,
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
      const bool stays = entry.backing || (storage.resident && pipelines_ > 0);
      const bool is_stopped = serve_together(storage, tensor, storage, k + 1, interval);
      const Placement place = placement_of(list, index, stays, [&](std::size_t i) {
        if (is_stopped && i > index) return Passage::kStop;  // by its own next tensor
        return passage(list[i], trivial_[trivial_begin + i] != 0, storage, tensor, interval);
      });
      int& top = top_pending_[tensor.index()];
      pending_.push_back(
          {place.before, static_cast<std::uint32_t>(tree_.entries.size()), place.slides_over, top});
      top = static_cast<int>(pending_.size()) - 1;
      tree_.entries.push_back(entry);
    }
  }

  /// A shared tensor's backing may stand in several branches; it lives from the first to the last
  /// Einsum that uses it, wherever that is.
  void widen_to_all_users(TreeEntry& entry) const {
    const PlaceRange users = users_[entry.tensor.index()];
    entry.first_user = std::min(entry.first_user, users.begin);
    entry.last_user = std::max(entry.last_user, users.end - 1);
  }

  bool is_held_above(const StorageNode& storage, TensorId tensor, PlaceRange interval,
                     std::size_t pending_begin) const {
    const auto holds = [&](std::uint32_t index) {
      const TreeEntry& entry = tree_.entries[index];
      if (!is_memory_[entry.component.index()]) return false;
      const StorageNode& holder = std::get<StorageNode>(entry.node->kind);
      bool together = false;
      for_each_served(tensor, storage, interval,
                      [&](EinsumId einsum) { together |= serves(holder, tensor, einsum); });
      return together;
    };
    for (int s = top_storage_[tensor.index()]; s != kNone; s = storage_at(s).above)
      if (holds(storage_at(s).entry)) return true;
    for (int p = top_pending_[tensor.index()]; p >= static_cast<int>(pending_begin);
         p = pending_[static_cast<std::size_t>(p)].above)
      if (holds(pending_[static_cast<std::size_t>(p)].entry)) return true;
    return false;
  }

  const StackStorage& storage_at(int index) const {
    return storages_[static_cast<std::size_t>(index)];
  }

  // --- second pass: the nests
  // ---------------------------------------------------------------------

  void walk(const NodeList& list) {
    const PlaceRange interval = intervals_[next_interval_++];
    const std::size_t items = items_.size(), loops = loops_.size(), storages = storages_.size();
    const std::size_t pending = pending_.size(), trivial = trivial_.size();
    mark_trivial_loops(list, interval);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::holds_alternative<StorageNode>(list[i].kind))
        add_entries(list, i, interval, pending, trivial);
    std::vector<std::pair<std::size_t, std::size_t>> effects;  // before which node, of `pending_`
    for (std::size_t s = pending; s < pending_.size(); ++s)
      effects.emplace_back(pending_[s].before, s);
    std::sort(effects.begin(), effects.end());
    auto next = effects.begin();
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (; next != effects.end() && next->first == i; ++next)
        push_storage(list, pending_[next->second], loops);
      if (const auto* loop = std::get_if<TemporalNode>(&list[i].kind)) {
        push_loop({&list[i],
                   &loop->variables,
                   loop->tile_shape,
                   loop->initial_tile_shape.value_or(0),
                   false,
                   trivial_[trivial + i] != 0,
                   {},
                   0,
                   0},
                  storages);
      } else if (const auto* spatial = std::get_if<SpatialNode>(&list[i].kind)) {
        push_loop({&list[i], &spatial->variables, spatial->tile_shape,
                   spatial->initial_tile_shape.value_or(0), true, trivial_[trivial + i] != 0,
                   spatial->component, spatial->dimension, 0},
                  storages);
      } else if (const auto* split = std::get_if<SplitNode>(&list[i].kind)) {
        walk_children(list[i], *split, interval, storages, items);
      } else if (const auto* compute = std::get_if<ComputeNode>(&list[i].kind)) {
        add_nest(list[i], *compute, storages);
      } else if (std::holds_alternative<CollectiveNode>(list[i].kind)) {
        report_.add(ViolationKind::kCollective, &list[i],
                    "A collective is a child of a split, not a step on the way to a compute.");
      }
    }
    items_.resize(items);
    loops_.resize(loops);
    pop(storages_, storages, top_storage_);
    pop(pending_, pending, top_pending_);
    trivial_.resize(trivial);
  }

  template <class Stacked>
  void pop(std::vector<Stacked>& stack, std::size_t size, std::vector<int>& top) const {
    for (; stack.size() > size; stack.pop_back())
      top[tree_.entries[stack.back().entry].tensor.index()] = stack.back().above;
  }

  /// `storages`: where the storage nodes of the split's list begin.
  void walk_children(const Node& node, const SplitNode& split, PlaceRange interval,
                     std::size_t storages, std::size_t list_items) {
    const bool concurrent = split.kind != SplitKind::kSequential;
    const std::size_t index = tree_.concurrent.size();
    if (concurrent) add_concurrent(node, split, interval, list_items);
    depth_ += concurrent ? 1 : 0;
    const int pipelines = pipelines_;
    pipelines_ += concurrent && !tree_.concurrent[index].steps.empty() ? 1 : 0;
    const IntervalLists alive = alive_in_children(split, interval, storages);
    const std::size_t outside = alive_.size();
    for (std::size_t c = 0; c < split.children.size(); ++c) {
      const NodeList& child = split.children[c];
      const int first = intervals_[next_interval_].begin;
      for (std::uint32_t s : alive[c]) alive_.push_back(storages_[storages + s].entry);
      if (is_collective(child)) {
        add_collective(child.front(), first, interval);
      } else {
        if (concurrent) tree_.concurrent[index].stages.push_back(first);
        walk(child);
      }
      alive_.resize(outside);
    }
    depth_ -= concurrent ? 1 : 0;
    pipelines_ = pipelines;
  }

  /// Which of the storage nodes of a split's list are alive in each child: those that it uses, or
  /// that Einsums before it and behind it use, and all above a loop. Children of a concurrent split
  /// run at the same time.
  IntervalLists alive_in_children(const SplitNode& split, PlaceRange interval,
                                  std::size_t storages) const {
    std::vector<PlaceRange> children;
    std::size_t list = next_interval_;
    for (std::size_t c = 0; c < split.children.size(); ++c, list = behind_[list])
      children.push_back(split.kind == SplitKind::kSequential ? intervals_[list] : interval);
    std::vector<PlaceRange> alive;
    for (std::size_t s = storages; s < storages_.size(); ++s) {
      const TreeEntry& entry = tree_.entries[storages_[s].entry];
      if (entry.loop_below) {
        alive.push_back({0, static_cast<int>(children.size())});
        continue;
      }
      const auto first = std::partition_point(
          children.begin(), children.end(),
          [&](const PlaceRange& child) { return child.end <= entry.first_user; });
      const auto behind = std::partition_point(first, children.end(), [&](const PlaceRange& child) {
        return child.begin <= entry.last_user;
      });
      alive.push_back({static_cast<int>(first - children.begin()),
                       static_cast<int>(behind - children.begin())});
    }
    return IntervalLists(children.size(), alive);
  }

  /// Its steps are the temporal loops right above it (spatial ones and those of one step take no
  /// time), up to the next storage node or split; the storage nodes below them are the ones that it
  /// holds.
  void add_concurrent(const Node& node, const SplitNode& split, PlaceRange interval,
                      std::size_t list_items) {
    ConcurrentSplit& flat = tree_.concurrent.emplace_back();
    flat.split = &split;
    flat.node = &node;
    flat.depth = depth_;
    flat.begin = interval.begin;
    flat.end = interval.end;
    for (const StackLoop& loop : loops_) flat.loops_above.push_back(loop.node);
    flat.held_above = held_above(split, interval);
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

  std::vector<std::uint32_t> held_above(const SplitNode& split, PlaceRange interval) const {
    std::vector<std::uint32_t> held;
    const auto add = [&](TensorId tensor) {
      for (int s = top_storage_[tensor.index()]; s != kNone; s = storage_at(s).above)
        held.push_back(static_cast<std::uint32_t>(s));
    };
    for (int place = interval.begin; place < interval.end; ++place)
      for (TensorId tensor : problem_[einsum_at_[static_cast<std::size_t>(place)]].tensors)
        add(tensor);
    for (const auto& [tensor, memory] : split.forward) add(tensor);
    std::sort(held.begin(), held.end());
    held.erase(std::unique(held.begin(), held.end()), held.end());
    for (std::uint32_t& s : held) s = storages_[s].entry;
    return held;
  }

  static bool is_collective(const NodeList& child) {
    return child.size() == 1 && std::holds_alternative<CollectiveNode>(child.front().kind);
  }

  void add_collective(const Node& node, int place, PlaceRange split) {
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
    for (int s = top_storage_[flat.collective->tensor.index()]; s != kNone; s = storage_at(s).above)
      flat.moves &= !is_memory_[tree_.entries[storage_at(s).entry].component.index()];
    flat.live_begin = static_cast<std::uint32_t>(tree_.live.size());
    add_live(storages_.size());  // a child without computes: what is used before and after
    flat.live_end = static_cast<std::uint32_t>(tree_.live.size());
  }

  /// Once all nests are there: what the maker of a collective that moves holds, and its readers.
  void find_ends(FlatCollective& flat) {
    const TensorId tensor = flat.collective->tensor;
    const std::optional<EinsumId> maker = problem_.roles.sole_maker(tensor);
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
    const std::optional<EinsumId> maker = problem_.roles.sole_maker(forward.tensor);
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
  void mark_trivial_loops(const NodeList& list, PlaceRange interval) {
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

  void push_storage(const NodeList& list, const PendingStorage& pending, std::size_t loops_begin) {
    int slides_over = kNone;
    if (pending.slides_over) {
      std::size_t loop = loops_begin;
      for (std::size_t i = 0; i < *pending.slides_over; ++i)
        if (std::holds_alternative<TemporalNode>(list[i].kind) ||
            std::holds_alternative<SpatialNode>(list[i].kind)) {
          ++loop;
        }
      slides_over = static_cast<int>(loop);
    }
    int& top = top_storage_[tree_.entries[pending.entry].tensor.index()];
    storages_.push_back(
        {pending.entry, slides_over, static_cast<std::uint32_t>(items_.size()), top});
    top = static_cast<int>(storages_.size()) - 1;
    items_.push_back({false, static_cast<std::uint32_t>(top)});
    keep_between_visits(tree_.entries[pending.entry]);
  }

  void keep_between_visits(TreeEntry& entry) const {
    if (entry.backing || !std::get<StorageNode>(entry.node->kind).incremental) return;
    for (const StackLoop& loop : loops_) {
      if (loop.spatial || loop.trivial) continue;
      entry.kept_during = loop.tree_loop;
      return;
    }
  }

  void push_loop(StackLoop loop, std::size_t storages_begin) {
    if (!loop.trivial) {
      for (std::size_t s = storages_begin; s < storages_.size(); ++s)
        tree_.entries[storages_[s].entry].loop_below = true;
    }
    loop.tree_loop = static_cast<std::uint32_t>(tree_.tree_loops.size());
    tree_.tree_loops.push_back({loop.node});
    loop_items_.resize(loops_.size());
    loop_items_.push_back(static_cast<std::uint32_t>(items_.size()));
    items_.push_back({true, static_cast<std::uint32_t>(loops_.size())});
    loops_.push_back(loop);
  }

  /// `storages`: where the storage nodes of the compute's list begin.
  void add_nest(const Node& node, const ComputeNode& compute, std::size_t storages) {
    const BoundEinsum& einsum = problem_[compute.einsum];
    Nest nest;
    nest.einsum = compute.einsum;
    nest.node = &node;
    for (const BoundCompute& candidate : einsum.computes)
      if (candidate.component == compute.component) nest.compute = &candidate;
    nest.loops_begin = static_cast<std::uint32_t>(tree_.loops.size());
    nest.storages_begin = static_cast<std::uint32_t>(tree_.storages.size());
    nest_loop_of_.assign(loops_.size(), -1);
    find_path(einsum);
    for (std::uint32_t place : path_) {
      const StackItem& item = items_[place];
      if (item.is_loop) {
        add_loop(loops_[item.index], item.index, einsum, nest);
      } else {
        add_storage(storages_[item.index], einsum, nest);
      }
    }
    nest.loops_end = static_cast<std::uint32_t>(tree_.loops.size());
    nest.storages_end = static_cast<std::uint32_t>(tree_.storages.size());
    nest.live_begin = static_cast<std::uint32_t>(tree_.live.size());
    add_live(storages);
    nest.live_end = static_cast<std::uint32_t>(tree_.live.size());
    tree_.nests.push_back(nest);
  }

  /// Loops and storage nodes of the Einsum's tensors: places in items_, outermost first.
  void find_path(const BoundEinsum& einsum) {
    path_.assign(loop_items_.begin(),
                 loop_items_.begin() + static_cast<std::ptrdiff_t>(loops_.size()));
    for (TensorId tensor : einsum.tensors)
      for (int s = top_storage_[tensor.index()]; s != kNone; s = storage_at(s).above)
        path_.push_back(storage_at(s).item);
    std::sort(path_.begin(), path_.end());
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
    flat.tree_loop = loop.tree_loop;
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

  /// What is alive in the lists above, and all storage nodes from `storages` on.
  void add_live(std::size_t storages) {
    tree_.live.insert(tree_.live.end(), alive_.begin(), alive_.end());
    for (std::size_t s = storages; s < storages_.size(); ++s)
      tree_.live.push_back(storages_[s].entry);
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
  const Node* list_end_ = nullptr;            ///< of the list whose nodes are numbered
  std::size_t next_interval_ = 0;
  std::vector<PlaceRange> intervals_;  ///< computes below each list, lists in order of first visit
  std::vector<std::size_t> behind_;  ///< per list: the next one in that order that is not below it
  std::vector<PlaceRange> users_;    ///< per TensorId: places from the first to the last user
  /// Per storage node of many tensors: where each of them stands last.
  std::unordered_map<const StorageNode*, std::unordered_map<std::size_t, std::size_t>> last_of_;
  LoopTiles tiles_;  ///< of the Einsums on the way down
  std::vector<std::uint8_t> trivial_;
  std::vector<PendingStorage> pending_;
  std::vector<StackItem> items_;
  std::vector<StackLoop> loops_;
  std::vector<StackStorage> storages_;
  std::vector<int> top_storage_, top_pending_;  ///< per TensorId: the innermost one, or kNone
  std::vector<std::uint32_t> loop_items_;       ///< per loop of the stack: its place in items_
  std::vector<std::uint32_t> path_;             ///< of one nest
  std::vector<std::uint32_t> alive_;            ///< in the lists above: entries
  std::vector<int> nest_loop_of_;
};

}  // namespace

FlatTree flatten(const BoundProblem& problem, const Mapping& mapping, ViolationReport& report) {
  FlatTree tree;
  Flattener(problem, report, tree).run(mapping);
  return tree;
}

}  // namespace sluice
