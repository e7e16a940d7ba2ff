#include "mapper/request/einsum_walk.h"

#include <algorithm>

#include "mapper/common/contains.h"
#include "mapping/loop_tiles.h"

namespace sluice {
namespace {

void collect_einsums(const NodeList& nodes, std::vector<EinsumId>& einsums) {
  for (const Node& node : nodes) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
      einsums.push_back(compute->einsum);
    else if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) collect_einsums(child, einsums);
  }
}

class TreeWalker {
 public:
  TreeWalker(const Workload& workload, const Mapping& mapping) : workload_(workload) {
    for (std::size_t e = 0; e < workload.einsums.size(); ++e) {
      ways_.emplace_back();
      ways_.back().einsum = EinsumId(e);
    }
    walk(mapping.nodes, LoopTiles(workload));
  }

  std::vector<EinsumWalk> take() {
    std::vector<EinsumWalk> in_order;
    for (const EinsumId einsum : order_) in_order.push_back(std::move(ways_[einsum.index()]));
    return in_order;
  }

 private:
  void walk(const NodeList& nodes, LoopTiles tiles) {
    std::vector<EinsumId> below;
    collect_einsums(nodes, below);
    for (const Node& node : nodes) {
      node_ = &node;
      std::visit([&](const auto& kind) { pass(kind, below, tiles); }, node.kind);
    }
  }

  void pass(const StorageNode& node, const std::vector<EinsumId>& below, LoopTiles& tiles) {
    for (const EinsumId einsum : below) {
      if (!node.einsums.empty() && !contains(node.einsums, einsum)) continue;
      WalkedStorage storage{node.component, {}, {}};
      for (const TensorAccess& access : workload_[einsum].accesses) {
        const auto end = storage.tensors.end();
        const bool is_new = std::find(storage.tensors.begin(), end, access.tensor) == end;
        if (is_new && std::find(node.tensors.begin(), node.tensors.end(), access.tensor) !=
                          node.tensors.end())
          storage.tensors.push_back(access.tensor);
      }
      if (storage.tensors.empty()) continue;
      for (std::size_t v = 0; v < workload_[einsum].iteration_space.size(); ++v)
        storage.tiles.push_back(tiles.tiles(einsum, v).largest());
      ways_[einsum.index()].steps.push_back({std::move(storage), {}, node_});
    }
  }

  void pass(const TemporalNode& node, const std::vector<EinsumId>& below, LoopTiles& tiles) {
    enter(node, {}, below, tiles);
  }
  void pass(const SpatialNode& node, const std::vector<EinsumId>& below, LoopTiles& tiles) {
    enter(node, {{}, node.component, node.dimension}, below, tiles);
  }

  template <class LoopNode>
  void enter(const LoopNode& node, WalkedLoop loop, const std::vector<EinsumId>& below,
             LoopTiles& tiles) {
    const LoopTiles before = tiles;
    tiles.enter({node.variables, node.tile_shape, node.initial_tile_shape.value_or(0)}, below);
    for (const EinsumId einsum : below)
      for (std::size_t v = 0; v < workload_[einsum].iteration_space.size(); ++v) {
        if (tiles.tiles(einsum, v).largest() == before.tiles(einsum, v).largest()) continue;
        loop.variable = workload_[einsum].iteration_space[v].variable;
        ways_[einsum.index()].steps.push_back({std::nullopt, loop, node_});
      }
  }

  void pass(const SplitNode& node, const std::vector<EinsumId>& below, LoopTiles& tiles) {
    for (const EinsumId einsum : below) {
      EinsumWalk& way = ways_[einsum.index()];
      way.splits.push_back(&node);
      way.n_above_splits = way.steps.size();
    }
    for (const NodeList& child : node.children) walk(child, tiles);
  }
  void pass(const CollectiveNode&, const std::vector<EinsumId>& below, LoopTiles&) {
    for (const EinsumId einsum : below) ways_[einsum.index()].has_collective = true;
  }
  void pass(const ComputeNode& node, const std::vector<EinsumId>&, LoopTiles&) {
    ways_[node.einsum.index()].compute = node.component;
    order_.push_back(node.einsum);
  }

  const Workload& workload_;
  const Node* node_ = nullptr;
  std::vector<EinsumWalk> ways_;  // per EinsumId
  std::vector<EinsumId> order_;
};

}  // namespace

std::vector<WalkedStep>::const_iterator innermost_node(const EinsumWalk& way, ComponentId memory) {
  auto innermost = way.steps.end();
  for (auto step = way.steps.begin(); step != way.steps.end(); ++step)
    if (is_at(*step, memory)) innermost = step;
  return innermost;
}

std::vector<EinsumWalk> walks_of(const Workload& workload, const Mapping& mapping) {
  return TreeWalker(workload, mapping).take();
}

}  // namespace sluice
