#include "program.h"

#include <algorithm>
#include <utility>

#include "placing.h"

namespace sluice::referee {
namespace {

/// Numbers storages and loops, and says which storages are backing and what slides over what.
class BodyMaker {
 public:
  BodyMaker(const Workload& workload, const Arch& arch) : workload_(workload), arch_(arch) {}

  Body make(const NodeList& written, std::vector<std::pair<TensorId, EinsumSet>> held,
            Tiles tiles) {
    Body body;
    const EinsumSet below = einsums_in(written);
    tiles = tiles_of(workload_, tiles, below);
    const PlacedList placed =
        place(workload_, arch_, written, held, tiles, around_.pipeline.has_value());
    body.einsums = placed.einsums;
    std::vector<std::size_t> loop_of_node(placed.nodes.size());
    for (const std::size_t index : placed.order)
      if (is_loop(placed.nodes[index])) loop_of_node[index] = n_loops_++;
    for (const std::size_t index : placed.order)
      add(body, placed, index, loop_of_node, held, tiles);
    body.steps_begin = find_steps(body);
    return body;
  }

  std::size_t n_storages() const { return n_storages_; }
  std::size_t n_loops() const { return n_loops_; }
  bool exchanges_at_the_same_time() const { return exchanges_at_the_same_time_; }
  std::vector<CollectiveNode> take_collectives() { return std::move(collectives_); }

 private:
  void add(Body& body, const PlacedList& placed, std::size_t index,
           const std::vector<std::size_t>& loop_of_node,
           std::vector<std::pair<TensorId, EinsumSet>>& held, Tiles& tiles) {
    const Node& node = placed.nodes[index];
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      StorageItem item = storage_item(*storage, placed.places[index]);
      if (placed.places[index].slides_over)
        item.slides_over = loop_of_node[*placed.places[index].slides_over];
      if (!item.is_toll) held.emplace_back(item.tensor, item.served);
      body.items.emplace_back(std::move(item));
    } else if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
      add_split(body, *split, held, tiles);
    } else if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) {
      body.items.emplace_back(ComputeItem{compute->einsum, compute->component});
    } else if (const auto* collective = std::get_if<CollectiveNode>(&node.kind)) {
      body.items.emplace_back(CollectiveStep{collectives_.size()});
      collectives_.push_back(*collective);
    } else if (is_loop(node)) {
      LoopItem loop = *as_loop(node);
      loop.id = loop_of_node[index];
      tiles = enter_loop(workload_, loop, tiles);
      ++around_.n_loops;
      around_.is_interrupted = around_.is_interrupted || (!loop.is_spatial && !loop.has_one_step);
      loop.rotates = rotated_by(body, loop);
      body.items.emplace_back(std::move(loop));
    }
  }

  /// The storage above whose shares go round: with nothing but storages in between, and loops of
  /// one step.
  std::optional<std::size_t> rotated_by(const Body& body, const LoopItem& loop) const {
    if (loop.is_spatial || loop.has_one_step) return std::nullopt;
    for (auto item = body.items.rbegin(); item != body.items.rend(); ++item) {
      if (const auto* outer = std::get_if<LoopItem>(&*item); outer && !outer->has_one_step) break;
      const auto* storage = std::get_if<StorageItem>(&*item);
      if (!storage || storage->shared_by == 1 || storage->served.size() != 1) continue;
      const EinsumId einsum = *storage->served.begin();
      const auto steps = loop.steps.find(einsum);
      if (walked(loop, workload_[einsum]) == storage->along && steps != loop.steps.end() &&
          static_cast<std::int64_t>(steps->second) == storage->shared_by)
        return storage->id;
    }
    return std::nullopt;
  }

  StorageItem storage_item(const StorageNode& storage, const Place& place) {
    StorageItem item;
    item.id = n_storages_++;
    item.tensor = storage.tensors[0];
    item.component = storage.component;
    item.is_toll = arch_[storage.component].is_toll();
    item.is_backing = place.is_backing;
    item.persistent = storage.persistent;
    item.resident = storage.resident;
    item.incremental = storage.incremental && !place.is_backing && !item.is_toll;
    item.served = place.served;
    item.shared_by = storage.shared_by.value_or(1);
    item.along = storage.along;
    for (std::size_t c = 0; storage.over && c <= item.component.index(); ++c)
      for (std::uint32_t d = 0; d < arch_.components[c].spatial.size(); ++d)
        if (arch_.components[c].spatial[d].name == *storage.over) item.over = {ComponentId(c), d};
    item.exchange = exchange_of(item);
    if (item.is_forwarded()) item.own_loops = around_.n_loops - forwarded_.at(item.tensor);
    if (item.resident && !item.is_toll) {
      item.stays_in = around_.pipeline;
      item.is_interrupted = around_.pipeline && around_.is_interrupted;
    }
    return item;
  }

  void add_split(Body& body, const SplitNode& split,
                 const std::vector<std::pair<TensorId, EinsumSet>>& held, const Tiles& tiles) {
    SplitItem item;
    item.kind = split.kind;
    item.over = split.over.value_or("");
    if (split.over) item.shared_out = dimension_named(*split.over, split);
    item.shares = split.shares;
    item.forwards = split.forward;
    note_exchanges(split, held);
    for (const auto& [tensor, memory] : split.forward) forwarded_[tensor] = around_.n_loops;
    const Around outside = around_;
    if (split.kind == SplitKind::kPipeline && first_step(body, body.items.size())) {
      around_.pipeline = around_.n_concurrent;
      around_.is_interrupted = false;
    }
    if (split.kind != SplitKind::kSequential) ++around_.n_concurrent;
    for (const NodeList& child : split.children) {
      const Around before = around_;
      item.children.push_back(make(child, held, tiles));
      around_ = before;
    }
    around_ = outside;
    hoist_common_backing(body, item);
    body.items.emplace_back(std::move(item));
  }

  /// The one dimension of this name on the way to every compute of a split.
  std::optional<std::pair<ComponentId, std::uint32_t>> dimension_named(
      const std::string& name, const SplitNode& split) const {
    std::set<std::pair<ComponentId, std::uint32_t>> found;
    std::vector<std::vector<ComponentId>> ways;
    for (const NodeList& child : split.children) add_ways(child, ways);
    for (const std::vector<ComponentId>& way : ways)
      for (ComponentId component : way)
        for (std::uint32_t d = 0; d < arch_[component].spatial.size(); ++d)
          if (arch_[component].spatial[d].name == name) found.insert({component, d});
    if (found.size() != 1) return std::nullopt;
    for (const std::vector<ComponentId>& way : ways)
      if (std::find(way.begin(), way.end(), found.begin()->first) == way.end()) return std::nullopt;
    return *found.begin();
  }

  void add_ways(const NodeList& list, std::vector<std::vector<ComponentId>>& ways) const {
    for (const Node& node : list) {
      if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
        ways.push_back(path_to(arch_, compute->component));
      if (const auto* split = std::get_if<SplitNode>(&node.kind))
        for (const NodeList& child : split->children) add_ways(child, ways);
    }
  }

  /// The steps of a pipelined split: the loops right above it (and above storages), if one of them
  /// is temporal and takes several steps.
  static std::optional<std::size_t> find_steps(const Body& body) {
    const auto* split = body.items.empty() ? nullptr : std::get_if<SplitItem>(&body.items.back());
    if (!split || split->kind != SplitKind::kPipeline) return std::nullopt;
    return first_step(body, body.items.size() - 1);
  }
  /// The same of a split that stands behind the first `end` items.
  static std::optional<std::size_t> first_step(const Body& body, std::size_t end) {
    std::size_t begin = end;
    bool has_steps = false;
    for (std::size_t i = begin; i-- > 0;) {
      const auto* loop = std::get_if<LoopItem>(&body.items[i]);
      if (!loop && has_steps) break;
      has_steps = has_steps || (loop && !loop->is_spatial && !loop->has_one_step);
      begin = i;
    }
    return has_steps ? std::optional(begin) : std::nullopt;
  }

  /// A collective on a tensor that nothing above its split holds for its maker brings it from the
  /// maker's own storage to those of the readers.
  void note_exchanges(const SplitNode& split,
                      const std::vector<std::pair<TensorId, EinsumSet>>& held) {
    for (const NodeList& child : split.children) {
      const auto* collective =
          child.size() == 1 ? std::get_if<CollectiveNode>(&child.front().kind) : nullptr;
      if (!collective) continue;
      const auto maker = maker_of(collective->tensor);
      if (maker && std::none_of(held.begin(), held.end(), [&](const auto& above) {
            return above.first == collective->tensor && above.second.count(*maker) > 0;
          })) {
        exchanged_.insert(collective->tensor);
        exchanges_at_the_same_time_ =
            exchanges_at_the_same_time_ || split.kind != SplitKind::kSequential;
      }
    }
  }

  std::optional<EinsumId> maker_of(TensorId tensor) const {
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e)
      if (workload_.einsums[e].output().tensor == tensor) return EinsumId(e);
    return std::nullopt;
  }

  StorageItem::Exchange exchange_of(const StorageItem& storage) const {
    const bool is_forwarded = forwarded_.count(storage.tensor) > 0;
    if (!storage.is_backing || (exchanged_.count(storage.tensor) == 0 && !is_forwarded))
      return StorageItem::Exchange::kNone;
    const auto maker = maker_of(storage.tensor);
    if (maker && storage.served.count(*maker) > 0)
      return is_forwarded ? StorageItem::Exchange::kSends : StorageItem::Exchange::kGives;
    return is_forwarded ? StorageItem::Exchange::kReceives : StorageItem::Exchange::kTakes;
  }

  /// Backing storages of one tensor in one memory at the head of several children (or above the
  /// split for some Einsums, and at the head of a child for others) are one storage, which lives
  /// from the first to the last of them: it stands above the split.
  static void hoist_common_backing(Body& body, SplitItem& split) {
    std::map<std::pair<TensorId, ComponentId>, std::vector<std::size_t>> children_with;
    for (std::size_t c = 0; c < split.children.size(); ++c)
      for (const StorageItem* storage : backing_at_head(split.children[c]))
        children_with[{storage->tensor, storage->component}].push_back(c);
    for (const auto& [what, children] : children_with) {
      StorageItem* above = backing_above_split(body, what);
      if (children.size() < 2 && !above) continue;
      std::optional<StorageItem> whole;
      if (above) {
        whole = *above;
        for (EinsumId einsum : above->served) whole->ids_as_written.emplace(einsum, above->id);
      }
      for (std::size_t c : children) take_out(split.children[c], what, whole);
      if (above)
        *above = std::move(*whole);
      else
        body.items.emplace_back(std::move(*whole));
    }
  }

  /// One with nothing but storages and loops of one step below it in the body.
  static StorageItem* backing_above_split(Body& body,
                                          const std::pair<TensorId, ComponentId>& what) {
    for (auto item = body.items.rbegin(); item != body.items.rend(); ++item) {
      const auto* loop = std::get_if<LoopItem>(&*item);
      if (loop && loop->has_one_step) continue;
      auto* storage = std::get_if<StorageItem>(&*item);
      if (!storage) break;
      if (storage->is_backing && !storage->served.empty() && storage->tensor == what.first &&
          storage->component == what.second)
        return storage;
    }
    return nullptr;
  }

  /// `charged`: tensors with a toll above, on this side of which they cannot be backed.
  static std::vector<const StorageItem*> backing_at_head(const Body& body,
                                                         std::set<TensorId> charged = {}) {
    std::vector<const StorageItem*> found;
    for (const Item& item : body.items) {
      const auto* loop = std::get_if<LoopItem>(&item);
      if (loop && loop->has_one_step) continue;
      const auto* storage = std::get_if<StorageItem>(&item);
      if (storage && storage->is_toll) charged.insert(storage->tensor);
      if (storage && storage->is_backing && charged.count(storage->tensor) == 0 &&
          storage->exchange == StorageItem::Exchange::kNone)
        found.push_back(storage);
      if (const auto* split = std::get_if<SplitItem>(&item))
        for (const Body& child : split->children)
          for (const StorageItem* inner : backing_at_head(child, charged)) found.push_back(inner);
      if (!storage) break;
    }
    return found;
  }

  /// Those that `backing_at_head` finds.
  static void take_out(Body& body, const std::pair<TensorId, ComponentId>& what,
                       std::optional<StorageItem>& whole) {
    for (std::size_t i = 0; i < body.items.size(); ++i) {
      const auto* loop = std::get_if<LoopItem>(&body.items[i]);
      if (loop && loop->has_one_step) continue;
      if (auto* split = std::get_if<SplitItem>(&body.items[i]))
        for (Body& child : split->children) take_out(child, what, whole);
      const auto* storage = std::get_if<StorageItem>(&body.items[i]);
      if (!storage || (storage->is_toll && storage->tensor == what.first)) return;
      if (!storage->is_backing || storage->tensor != what.first ||
          storage->component != what.second || storage->exchange != StorageItem::Exchange::kNone)
        continue;
      if (!whole) whole = *storage;
      whole->is_hoisted = true;
      whole->served.insert(storage->served.begin(), storage->served.end());
      whole->persistent = whole->persistent || storage->persistent;
      if (storage->stays_in) whole->stays_in = storage->stays_in;
      for (EinsumId einsum : storage->served)
        whole->ids_as_written[einsum] = storage->order_as_written(einsum);
      body.items.erase(body.items.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  static bool is_loop(const Node& node) {
    return std::holds_alternative<TemporalNode>(node.kind) ||
           std::holds_alternative<SpatialNode>(node.kind);
  }

  const Workload& workload_;
  const Arch& arch_;
  std::size_t n_storages_ = 0;
  std::size_t n_loops_ = 0;
  std::vector<CollectiveNode> collectives_;
  std::set<TensorId> exchanged_;
  std::map<TensorId, std::size_t> forwarded_;  ///< with the loops above the split that forwards it
  /// What stands around the list that is made.
  struct Around {
    std::size_t n_loops = 0;
    std::size_t n_concurrent = 0;         ///< splits whose children run at the same time
    std::optional<std::size_t> pipeline;  ///< of several steps, the innermost: its `n_concurrent`
    bool is_interrupted = false;          ///< a loop of several steps between that and the list
  };
  Around around_;
  bool exchanges_at_the_same_time_ = false;
};

/// Follows every Einsum down to its compute.
void trace_paths(const Workload& workload, const Body& body, std::map<EinsumId, Path> above,
                 std::map<EinsumId, Path>& paths) {
  for (const Item& item : body.items) {
    if (const auto* storage = std::get_if<StorageItem>(&item)) {
      for (EinsumId einsum : storage->served)
        above[einsum].links[storage->tensor].push_back({storage, above[einsum].spatial.size(),
                                                        above[einsum].loops.size(),
                                                        above[einsum].n_storages++});
    } else if (const auto* loop = std::get_if<LoopItem>(&item)) {
      for (EinsumId einsum : body.einsums) {
        above[einsum].loops.push_back(loop);
        if (loop->is_spatial) above[einsum].spatial.push_back(loop);
      }
    } else if (const auto* split = std::get_if<SplitItem>(&item)) {
      for (const Body& child : split->children) trace_paths(workload, child, above, paths);
    } else if (const auto* compute = std::get_if<ComputeItem>(&item)) {
      above[compute->einsum].compute = compute->component;
      paths[compute->einsum] = above[compute->einsum];
    }
  }
}

}  // namespace

std::optional<RankVariableId> walked(const LoopItem& loop, const Einsum& einsum) {
  for (RankVariableId variable : loop.variables)
    if (uses_variable(einsum, variable)) return variable;
  return std::nullopt;
}

std::vector<std::size_t> loops_over_peers(const Workload& workload, EinsumId einsum,
                                          const Path& path, const Link& link) {
  std::vector<std::size_t> loops;
  for (std::size_t d = 0; link.storage->over && d < link.spatial_depth; ++d) {
    const LoopItem& loop = *path.spatial[d];
    const auto steps = loop.steps.find(einsum);
    if (std::pair(loop.component, loop.dimension) != *link.storage->over ||
        steps == loop.steps.end() || steps->second == 1)
      continue;
    const auto variable = walked(loop, workload[einsum]);
    const auto& accesses = workload[einsum].accesses;
    if (std::all_of(accesses.begin(), accesses.end(), [&](const TensorAccess& access) {
          return access.tensor != link.storage->tensor || !variable ||
                 relevance(access, *variable) == Relevance::kIrrelevant;
        }))
      loops.push_back(d);
  }
  return loops;
}

bool is_collected(const Program& program, const Arch& arch, TensorId tensor, const LoopItem& loop) {
  if (!loop.is_spatial) return false;
  const std::string& name = arch[loop.component].spatial[loop.dimension].name;
  return std::any_of(program.collectives.begin(), program.collectives.end(),
                     [&](const CollectiveNode& collective) {
                       return collective.tensor == tensor &&
                              std::find(collective.over.begin(), collective.over.end(), name) !=
                                  collective.over.end();
                     });
}

Program make_program(const Workload& workload, const Arch& arch, const Mapping& mapping) {
  Program program;
  BodyMaker maker(workload, arch);
  program.root = maker.make(mapping.nodes, {}, whole_tiles(workload));
  program.n_storages = maker.n_storages();
  program.n_loops = maker.n_loops();
  program.collectives = maker.take_collectives();
  program.exchanges_at_the_same_time = maker.exchanges_at_the_same_time();
  trace_paths(workload, program.root, {}, program.paths);
  return program;
}

}  // namespace sluice::referee
