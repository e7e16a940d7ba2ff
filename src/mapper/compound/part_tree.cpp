#include "part_tree.h"

#include <algorithm>
#include <iterator>

#include "mapper/common/contains.h"

namespace sluice::compound {

StorageNode root_of(const BoundProblem& problem, const std::vector<const Group*>& groups) {
  StorageNode root;
  root.component = outermost_memory(problem, groups.front()->einsum(0), 0);
  for (const Group* group : groups)
    for (TensorId tensor : group->external)
      if (!contains(root.tensors, tensor)) root.tensors.push_back(tensor);
  std::sort(root.tensors.begin(), root.tensors.end());
  return root;
}

Mapping below_root(StorageNode root, std::vector<NodeList> lists) {
  if (lists.size() == 1) return list_below_root(std::move(root), std::move(lists[0]));
  SplitNode split;
  split.children = std::move(lists);
  NodeList nodes;
  nodes.push_back({std::move(split)});
  return list_below_root(std::move(root), std::move(nodes));
}

Mapping list_below_root(StorageNode root, NodeList nodes) {
  if (!root.tensors.empty()) nodes.insert(nodes.begin(), {std::move(root)});
  Mapping mapping;
  mapping.nodes = std::move(nodes);
  return mapping;
}

void write_alone(NodeList* nodes) {
  for_each_compute(nodes, [](ComputeNode& compute) { compute.einsum = EinsumId(0); });
}

Mapping whole_mapping(const BoundProblem& problem, const std::vector<const Group*>& groups,
                      const std::vector<const NodeList*>& parts) {
  std::vector<NodeList> lists;
  for (std::size_t g = 0; g < groups.size(); ++g)
    add_offset(&lists.emplace_back(*parts[g]), groups[g]->first);
  return below_root(root_of(problem, groups), std::move(lists));
}

void for_each_compute(NodeList* nodes, const std::function<void(ComputeNode&)>& visit) {
  for (Node& node : *nodes) {
    if (auto* compute = std::get_if<ComputeNode>(&node.kind)) visit(*compute);
    if (auto* split = std::get_if<SplitNode>(&node.kind))
      for (NodeList& child : split->children) for_each_compute(&child, visit);
  }
}

void add_offset(NodeList* nodes, std::size_t offset) {
  for_each_compute(nodes, [offset](ComputeNode& compute) {
    compute.einsum = EinsumId(compute.einsum.index() + offset);
  });
}

NodeList nodes_using(NodeList::const_iterator begin, NodeList::const_iterator end,
                     const std::function<bool(TensorId)>& is_used) {
  NodeList nodes;
  nodes.reserve(static_cast<std::size_t>(end - begin) + 1);
  for (auto node = begin; node != end; ++node) {
    const auto* storage = std::get_if<StorageNode>(&node->kind);
    if (storage && std::none_of(storage->tensors.begin(), storage->tensors.end(), is_used))
      continue;
    nodes.push_back(*node);
    if (auto* own = std::get_if<StorageNode>(&nodes.back().kind))
      std::erase_if(own->tensors, [&](TensorId tensor) { return !is_used(tensor); });
  }
  return nodes;
}

NodeList nodes_using(const NodeList& frame, const std::function<bool(TensorId)>& is_used) {
  return nodes_using(frame.begin(), frame.end(), is_used);
}

}  // namespace sluice::compound
