#include "compose.h"

#include <algorithm>
#include <map>
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
  Composer(const LayerGraph& graph, ComponentId outermost, const InnerHomes& homes)
      : outermost_(outermost), homes_(homes) {
    for (const Lifetime& lifetime : graph.lifetimes) exchanged_.insert(lifetime.tensor);
  }

  void add(NodeList nodes) {
    take_home(nodes);
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
    take_private(rest);
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
    for (auto& [memory, tensors] : at_home_) {
      StorageNode node;
      node.component = memory;
      node.tensors.assign(tensors.begin(), tensors.end());
      mapping.nodes.push_back({std::move(node)});
    }
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
  /// Takes tensors out of the nodes that keep them at home.
  void take_home(NodeList& nodes) {
    for (Node& node : nodes) {
      if (auto* split = std::get_if<SplitNode>(&node.kind))
        for (NodeList& child : split->children) take_home(child);
      if (auto* storage = std::get_if<StorageNode>(&node.kind)) take_home(*storage);
    }
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                               [](const Node& node) {
                                 const auto* storage = std::get_if<StorageNode>(&node.kind);
                                 return storage != nullptr && storage->tensors.empty();
                               }),
                nodes.end());
  }
  void take_home(StorageNode& node) {
    const auto others = std::stable_partition(
        node.tensors.begin(), node.tensors.end(),
        [&](TensorId tensor) { return homes_[tensor.index()] != node.component; });
    if (others == node.tensors.end()) return;
    at_home_[node.component].insert(others, node.tensors.end());
    node.tensors.erase(others, node.tensors.end());
  }

  /// Where tensors are at home on top, a layer's split joins that of the whole: else they would be
  /// held while all of its branches run. What no other layer uses may stand above both.
  void take_private(NodeList& nodes) {
    const bool are_private = std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
      const auto& storage = std::get<StorageNode>(node.kind);
      StorageNode plain;
      plain.tensors = storage.tensors;
      plain.component = storage.component;
      return storage == plain &&
             std::none_of(plain.tensors.begin(), plain.tensors.end(),
                          [&](TensorId tensor) { return exchanged_.count(tensor) > 0; });
    });
    if (at_home_.empty() || !are_private) return;
    for (const Node& node : nodes) {
      const auto& storage = std::get<StorageNode>(node.kind);
      at_home_[storage.component].insert(storage.tensors.begin(), storage.tensors.end());
    }
    nodes.clear();
  }

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
  const InnerHomes& homes_;
  std::set<TensorId> exchanged_;
  std::map<ComponentId, std::set<TensorId>> at_home_;
  std::vector<StorageNode> top_;
  std::set<std::pair<ComponentId, TensorId>> kept_;
  std::vector<NodeList> children_;
};

}  // namespace

Mapping compose(const LayerGraph& graph, const std::vector<const Mapping*>& mappings,
                ComponentId outermost, const InnerHomes& homes) {
  Composer composer(graph, outermost, homes);
  for (const Layer& layer : graph.layers)
    composer.add(Renumbering(layer).apply(mappings[layer.shape]->nodes));
  return composer.finish();
}

}  // namespace sluice
