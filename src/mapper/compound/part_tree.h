#pragma once

#include <functional>
#include <vector>

#include "group.h"
#include "sluice/mapping/mapping.h"

namespace sluice::compound {

/// The node of the outermost memory: what the groups exchange through it.
StorageNode root_of(const BoundProblem& problem, const std::vector<const Group*>& groups);

/// A mapping of node lists one after the other, or of one, below a root.
Mapping below_root(StorageNode root, std::vector<NodeList> lists);

Mapping list_below_root(StorageNode root, NodeList nodes);  ///< no root without a tensor

/// Makes all computes those of the only Einsum in its slice.
void write_alone(NodeList* nodes);

/// A whole mapping of groups one after the other: the outermost memory's node, then their nodes,
/// whose Einsum ids count from each group's first.
Mapping whole_mapping(const BoundProblem& problem, const std::vector<const Group*>& groups,
                      const std::vector<const NodeList*>& parts);

void for_each_compute(NodeList* nodes, const std::function<void(ComputeNode&)>& visit);

/// Adds to the Einsum ids of all computes.
void add_offset(NodeList* nodes, std::size_t offset);

/// The nodes of a frame with those tensors for which `is_used`; none without a tensor.
NodeList nodes_using(const NodeList& frame, const std::function<bool(TensorId)>& is_used);
NodeList nodes_using(NodeList::const_iterator begin, NodeList::const_iterator end,
                     const std::function<bool(TensorId)>& is_used);

}  // namespace sluice::compound
