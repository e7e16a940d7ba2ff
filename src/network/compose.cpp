#include "compose.h"

#include <algorithm>
#include <set>

namespace sluice {
namespace {

/// A shape's mapping in the ids of one of its layers.
class Renumbering {
 public:
  explicit Renumbering(const Layer& layer) : layer_(layer) {}

  NodeList apply(NodeList nodes) const {
    for (Node& node : nodes) std::visit([this](auto& kind) { renumber(kind); }, node.kind);
    return nodes;
  }

 private:
  void renumber(TensorId& tensor) const { tensor = layer_.tensors[tensor.index()]; }
  void renumber(RankVariableId& variable) const { variable = layer_.variables[variable.index()]; }
  void renumber(EinsumId& einsum) const { einsum = EinsumId(layer_.first + einsum.index()); }

  void renumber(StorageNode& node) const {
    for (TensorId& tensor : node.tensors) renumber(tensor);
    for (EinsumId& einsum : node.einsums) renumber(einsum);
    if (node.along) renumber(*node.along);
  }
  void renumber(TemporalNode& node) const {
    for (RankVariableId& variable : node.variables) renumber(variable);
  }
  void renumber(SpatialNode& node) const {
    for (RankVariableId& variable : node.variables) renumber(variable);
  }
  void renumber(CollectiveNode& node) const { renumber(node.tensor); }
  void renumber(ComputeNode& node) const { renumber(node.einsum); }
  void renumber(SplitNode& node) const {
    for (NodeList& child : node.children) child = apply(std::move(child));
    for (auto& [tensor, memory] : node.forward) renumber(tensor);
  }

  const Layer& layer_;
};

class Composer {
 public:
  explicit Composer(ComponentId outermost) : outermost_(outermost) {}

  void add(NodeList nodes) {
    std::size_t at = 0;
    NodeList rest;
    for (; at < nodes.size(); ++at) {
      auto* storage = std::get_if<StorageNode>(&nodes[at].kind);
      if (storage == nullptr) break;
      if (storage->component == outermost_ || storage->persistent)
        keep_on_top(std::move(*storage));
      else
        rest.push_back(std::move(nodes[at]));
    }
    auto* split = at + 1 == nodes.size() ? std::get_if<SplitNode>(&nodes[at].kind) : nullptr;
    if (rest.empty() && split != nullptr && split->kind == SplitKind::kSequential) {
      std::move(split->children.begin(), split->children.end(), std::back_inserter(children_));
      return;
    }
    std::move(nodes.begin() + static_cast<std::ptrdiff_t>(at), nodes.end(),
              std::back_inserter(rest));
    children_.push_back(std::move(rest));
  }

  Mapping finish() {
    Mapping mapping;
    for (StorageNode& node : top_) mapping.nodes.push_back({std::move(node)});
    if (children_.size() == 1) {
      std::move(children_.front().begin(), children_.front().end(),
                std::back_inserter(mapping.nodes));
    } else {
      SplitNode split;
      split.children = std::move(children_);
      mapping.nodes.push_back({std::move(split)});
    }
    return mapping;
  }

 private:
  /// Joined with an equal node, each tensor once. Persistent ones stand first.
  void keep_on_top(StorageNode node) {
    std::vector<TensorId> tensors;
    std::swap(tensors, node.tensors);
    auto same = std::find_if(top_.begin(), top_.end(), [&](StorageNode other) {
      other.tensors.clear();
      return other == node;
    });
    if (same == top_.end())
      same = top_.insert(node.persistent ? top_.begin() : top_.end(), std::move(node));
    for (const TensorId tensor : tensors)
      if (kept_.emplace(same->component, tensor).second) same->tensors.push_back(tensor);
  }

  ComponentId outermost_;
  std::vector<StorageNode> top_;
  std::set<std::pair<ComponentId, TensorId>> kept_;
  std::vector<NodeList> children_;
};

}  // namespace

Mapping compose(const LayerGraph& graph, const std::vector<const Mapping*>& mappings,
                ComponentId outermost) {
  Composer composer(outermost);
  for (const Layer& layer : graph.layers)
    composer.add(Renumbering(layer).apply(mappings[layer.shape]->nodes));
  return composer.finish();
}

}  // namespace sluice
