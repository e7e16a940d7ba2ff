#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "layer_nodes.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/kapla/loop_tree.h"

namespace sluice::kapla {
namespace {

class TreeReader {
 public:
  TreeReader(const BoundProblem& problem, const std::string& file)
      : problem_(problem), file_(file) {}

  Result<Mapping> read(const std::vector<LayerDirectives>& layers) {
    std::vector<PlacedNodes> lists;
    const bool is_explicit = names_outermost(layers);
    for (const LayerDirectives& layer : layers) try {
        const EinsumId einsum = einsum_of(layer);
        std::set<TensorId> backed;
        if (!is_explicit)
          for (const TensorId tensor : tensors_of(problem_.workload[einsum])) backed.insert(tensor);
        lists.push_back(layer_nodes(problem_, einsum, layer, std::move(backed)));
      } catch (const LayerMistake& mistake) {
        Diagnostic diagnostic;
        diagnostic.location = {file_, mistake.place.line, mistake.place.column};
        diagnostic.message = mistake.message;
        diagnostic.hint = mistake.hint;
        mistakes_.push_back(std::move(diagnostic));
      }
    if (!mistakes_.empty()) return tl::unexpected(std::move(mistakes_));
    return whole(std::move(lists), is_explicit);
  }
  /// Of each node of the mapping, in the order of its text.
  std::vector<DirectivePlace> take_places() { return std::move(places_); }

 private:
  ComponentId outermost() const { return *outermost_memory(problem_.arch); }

  bool names_outermost(const std::vector<LayerDirectives>& layers) const {
    const std::string& name = problem_.arch[outermost()].name;
    return std::any_of(layers.begin(), layers.end(), [&](const LayerDirectives& layer) {
      return find_level(layer, name) != nullptr;
    });
  }

  EinsumId einsum_of(const LayerDirectives& layer) {
    const auto found = find_einsum(problem_.workload, layer.name);
    std::vector<std::string> names;
    for (const Einsum& einsum : problem_.workload.einsums) names.push_back(einsum.name);
    if (!found)
      throw LayerMistake{layer.place, fmt::format("the workload has no Einsum `{}`", layer.name),
                         near(layer.name, names)};
    if (!seen_.insert(*found).second)
      throw LayerMistake{layer.place, fmt::format("`{}` stands twice", layer.name), ""};
    return *found;
  }

  /// Nodes above all loops that several layers share, and those of the outermost memory, stand on
  /// top.
  Mapping whole(std::vector<PlacedNodes> lists, bool is_explicit) {
    PlacedNodes top;
    std::set<std::pair<ComponentId, TensorId>> on_top;
    const auto put_on_top = [&](StorageNode node, DirectivePlace place) {
      if (on_top.emplace(node.component, node.tensors[0]).second)
        top.push_back({{std::move(node)}, place});
    };
    std::vector<PlacedNodes> children;
    for (PlacedNodes& list : lists) {
      PlacedNodes rest;
      std::set<TensorId> backed;
      bool is_above = true;
      if (!is_explicit)
        for (const TensorId tensor :
             tensors_of(problem_.workload[std::get<ComputeNode>(list.back().node.kind).einsum])) {
          StorageNode node;
          node.tensors = {tensor};
          node.component = outermost();
          put_on_top(std::move(node), list.back().place);
        }
      for (PlacedNode& node : list) {
        const auto* storage = std::get_if<StorageNode>(&node.node.kind);
        is_above &= storage != nullptr;
        const bool is_backing = is_above && backed.insert(storage->tensors[0]).second;
        if (is_above && (storage->component == outermost() ||
                         (is_backing && problem_.roles.is_shared(storage->tensors[0]))))
          put_on_top(*storage, node.place);
        else
          rest.push_back(std::move(node));
      }
      children.push_back(std::move(rest));
    }
    std::stable_sort(top.begin(), top.end(), [](const PlacedNode& a, const PlacedNode& b) {
      return std::get<StorageNode>(a.node.kind).component <
             std::get<StorageNode>(b.node.kind).component;
    });
    return joined(std::move(top), std::move(children));
  }

  /// Nodes on top, and below them the only child, or a split.
  Mapping joined(PlacedNodes top, std::vector<PlacedNodes> children) {
    const auto take = [this](PlacedNodes& from, NodeList& to) {
      for (PlacedNode& node : from) {
        to.push_back(std::move(node.node));
        places_.push_back(node.place);
      }
    };
    Mapping mapping;
    take(top, mapping.nodes);
    if (children.size() == 1) {
      take(children[0], mapping.nodes);
      return mapping;
    }
    SplitNode split;
    places_.push_back({1, 1});
    for (PlacedNodes& child : children) take(child, split.children.emplace_back());
    mapping.nodes.push_back({std::move(split)});
    return mapping;
  }

  const BoundProblem& problem_;
  const std::string& file_;
  Diagnostics mistakes_;
  std::set<EinsumId> seen_;
  std::vector<DirectivePlace> places_;
};

}  // namespace

Result<Mapping> to_loop_tree(const std::vector<LayerDirectives>& layers,
                             const BoundProblem& problem, const std::string& file,
                             std::vector<DirectivePlace>* places) {
  TreeReader reader(problem, file);
  Result<Mapping> mapping = reader.read(layers);
  if (places != nullptr) *places = reader.take_places();
  return mapping;
}

}  // namespace sluice::kapla
