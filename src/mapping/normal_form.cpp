#include "sluice/mapping/normal_form.h"

#include <algorithm>
#include <set>

#include "mapping/einsums_below.h"
#include "mapping/loop_tiles.h"
#include "mapping/placement.h"

namespace sluice {
namespace {

using EinsumSet = std::set<EinsumId>;

class Normaliser {
 public:
  Normaliser(const Workload& workload, const Arch& arch)
      : workload_(workload),
        arch_(arch),
        users_(users_of_tensors(workload)),
        held_(workload.tensors.size()),
        tiles_(workload) {}

  NodeList normalise(const NodeList& written) {
    NodeList list = split_storages(written);
    const std::vector<EinsumId> computed = einsums_below(list);
    const EinsumSet below(computed.begin(), computed.end());
    const std::vector<TileSizes> tiles_outside = tiles_.saved(computed);
    while (sink_one(list, below)) {
    }
    const std::vector<bool> trivial = mark_trivial(list, computed);
    for (const StorageNode* storage : memory_nodes(list))
      held_of(*storage).push_back(served(*storage, below));
    for (Node& node : list)
      if (SplitNode* split = std::get_if<SplitNode>(&node.kind)) {
        const bool outside = in_pipeline_;
        in_pipeline_ |= split->kind == SplitKind::kPipeline && has_steps(list, trivial);
        for (NodeList& child : split->children) child = normalise(child);
        in_pipeline_ = outside;
      }
    for (const StorageNode* storage : memory_nodes(list)) held_of(*storage).pop_back();
    tiles_.restore(computed, tiles_outside);
    return list;
  }

 private:
  std::vector<const StorageNode*> memory_nodes(const NodeList& list) const {
    std::vector<const StorageNode*> nodes;
    for (const Node& node : list)
      if (const StorageNode* storage = std::get_if<StorageNode>(&node.kind))
        if (arch_[storage->component].is_memory()) nodes.push_back(storage);
    return nodes;
  }

  std::vector<EinsumSet>& held_of(const StorageNode& single) {
    return held_[single.tensors[0].index()];
  }

  static NodeList split_storages(const NodeList& written) {
    NodeList list;
    for (const Node& node : written) {
      const StorageNode* storage = std::get_if<StorageNode>(&node.kind);
      if (!storage) {
        list.push_back(node);
        continue;
      }
      for (TensorId tensor : storage->tensors) {
        StorageNode single = *storage;
        single.tensors = {tensor};
        list.push_back(Node{single});
      }
    }
    return list;
  }

  EinsumSet served(const StorageNode& storage, const EinsumSet& below) const {
    EinsumSet result;
    for (EinsumId einsum : users_[storage.tensors[0].index()]) {
      const bool named = storage.einsums.empty() ||
                         std::find(storage.einsums.begin(), storage.einsums.end(), einsum) !=
                             storage.einsums.end();
      if (named && below.count(einsum) > 0) result.insert(einsum);
    }
    return result;
  }

  static bool has_steps(const NodeList& list, const std::vector<bool>& trivial) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::holds_alternative<TemporalNode>(list[i].kind) && !trivial[i]) return true;
    return false;
  }

  static bool meet(const EinsumSet& a, const EinsumSet& b) {
    return std::any_of(a.begin(), a.end(), [&](EinsumId e) { return b.count(e) > 0; });
  }

  /// Loops of one step, given the tiles outside the list; sets `tiles_` to those inside it.
  std::vector<bool> mark_trivial(const NodeList& list, const std::vector<EinsumId>& below) {
    std::vector<bool> trivial(list.size(), false);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (const TemporalNode* loop = std::get_if<TemporalNode>(&list[i].kind))
        trivial[i] = tiles_.enter(
            {loop->variables, loop->tile_shape, loop->initial_tile_shape.value_or(0)}, below);
      if (const SpatialNode* loop = std::get_if<SpatialNode>(&list[i].kind))
        trivial[i] = tiles_.enter(
            {loop->variables, loop->tile_shape, loop->initial_tile_shape.value_or(0)}, below);
    }
    return trivial;
  }

  Passage passage(const NodeList& list, std::size_t index, const StorageNode& storage,
                  const EinsumSet& mine, const EinsumSet& below, bool trivial) const {
    if (const StorageNode* other = std::get_if<StorageNode>(&list[index].kind))
      return meet(mine, served(*other, below)) ? Passage::kStop : Passage::kThrough;
    if (const SpatialNode* loop = std::get_if<SpatialNode>(&list[index].kind))
      return loop->component == storage.component || trivial ? Passage::kThrough : Passage::kStop;
    const TemporalNode* loop = std::get_if<TemporalNode>(&list[index].kind);
    if (!loop) return Passage::kStop;
    if (trivial) return Passage::kThrough;
    bool all_relevant = true, none_irrelevant = true;
    for (EinsumId einsum : mine) {
      Relevance seen = Relevance::kIrrelevant;
      for (RankVariableId variable : loop->variables) {
        if (!uses_variable(workload_[einsum], variable)) continue;
        seen = held_relevance(workload_[einsum], storage.tensors[0], variable);
        break;
      }
      all_relevant = all_relevant && seen == Relevance::kRelevant;
      none_irrelevant = none_irrelevant && seen != Relevance::kIrrelevant;
    }
    if (all_relevant) return Passage::kThrough;
    return none_irrelevant ? Passage::kSlide : Passage::kStop;
  }

  std::vector<Placement> placements(const NodeList& list, const EinsumSet& below) {
    const std::vector<EinsumId> computed = einsums_below(list);
    const std::vector<TileSizes> tiles_outside = tiles_.saved(computed);
    const std::vector<bool> trivial = mark_trivial(list, computed);
    tiles_.restore(computed, tiles_outside);
    std::vector<Placement> places(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const StorageNode* storage = std::get_if<StorageNode>(&list[i].kind);
      if (!storage) continue;
      const EinsumSet mine = served(*storage, below);
      const bool is_memory = arch_[storage->component].is_memory();
      std::vector<EinsumSet>& above = held_of(*storage);
      const bool backing = is_memory && std::none_of(above.begin(), above.end(),
                                                     [&](const auto& s) { return meet(s, mine); });
      if (is_memory) above.push_back(mine);
      const bool stays = backing || (storage->resident && in_pipeline_);
      places[i] = placement_of(list, i, stays, [&](std::size_t j) {
        return passage(list, j, *storage, mine, below, trivial[j]);
      });
    }
    for (const StorageNode* storage : memory_nodes(list)) held_of(*storage).pop_back();
    return places;
  }

  /// The order in which nodes take effect: `index` lists them, loops and storages alike.
  static std::vector<std::size_t> order_of_effect(const NodeList& list,
                                                  const std::vector<Placement>& places) {
    std::vector<std::vector<std::size_t>> before(list.size() + 1);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::holds_alternative<StorageNode>(list[i].kind)) before[places[i].before].push_back(i);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      order.insert(order.end(), before[i].begin(), before[i].end());
      if (i < list.size() && !std::holds_alternative<StorageNode>(list[i].kind)) order.push_back(i);
    }
    return order;
  }

  /// Moves one node to where it takes effect, if that leaves every other node's place as it is.
  bool sink_one(NodeList& list, const EinsumSet& below) {
    const std::vector<Placement> places = placements(list, below);
    const std::vector<std::size_t> wanted = order_of_effect(list, places);
    for (std::size_t i = list.size(); i-- > 0;) {
      if (!std::holds_alternative<StorageNode>(list[i].kind) || places[i].before == i) continue;
      // Position among the moved list, and the old index of each of its nodes.
      NodeList moved;
      std::vector<std::size_t> old_index;
      for (std::size_t j = 0; j <= list.size(); ++j) {
        if (j == places[i].before) {
          moved.push_back(list[i]);
          old_index.push_back(i);
        }
        if (j == list.size() || j == i) continue;
        moved.push_back(list[j]);
        old_index.push_back(j);
      }
      std::vector<std::size_t> effect = order_of_effect(moved, placements(moved, below));
      for (std::size_t& position : effect) position = old_index[position];
      if (effect != wanted) continue;
      list = std::move(moved);
      return true;
    }
    return false;
  }

  const Workload& workload_;
  const Arch& arch_;
  std::vector<std::vector<EinsumId>> users_;  ///< per tensor
  /// Per tensor: the Einsums that each node outside which holds it serves, outermost first.
  std::vector<std::vector<EinsumSet>> held_;
  LoopTiles tiles_;           ///< of the Einsums on the way down
  bool in_pipeline_ = false;  ///< below a pipelined split with steps: resident nodes stay
};

}  // namespace

Mapping normal_form(const Mapping& mapping, const Workload& workload, const Arch& arch) {
  Mapping result = mapping;
  result.nodes = Normaliser(workload, arch).normalise(mapping.nodes);
  return result;
}

}  // namespace sluice
