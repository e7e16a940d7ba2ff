#include "oracle/nest.h"

namespace sluice::oracle {
namespace {

std::string text_of(const NestStorage& s) {
  return "S" + std::to_string(s.tensor.index()) + "@" + std::to_string(s.component.index()) +
         (s.backing ? "b" : "") + (s.persistent ? "p" : "") + (s.sliding ? "s" : "");
}

std::string text_of(const NestLoop& l) {
  std::string where;
  if (l.spatial)
    where = "@" + std::to_string(l.component.index()) + "." + std::to_string(l.dimension);
  return "L" + std::to_string(l.variable.index()) + "x" + std::to_string(l.trips) + where;
}

}  // namespace

std::string nest_key(const std::vector<NestNode>& nodes, ComponentId compute) {
  std::string key = "C" + std::to_string(compute.index());
  for (const NestNode& node : nodes)
    key += " " + std::visit([](const auto& n) { return text_of(n); }, node);
  return key;
}

Node storage_node(const NestStorage& storage) {
  StorageNode node;
  node.tensors = {storage.tensor};
  node.component = storage.component;
  node.persistent = storage.persistent;
  node.sliding = storage.sliding;
  return Node{node};
}

Node loop_node(const NestLoop& loop, const std::vector<RankVariableId>& variables) {
  if (!loop.spatial) {
    TemporalNode node;
    node.variables = variables;
    node.tile_shape = loop.tile_shape;
    return Node{node};
  }
  SpatialNode node;
  node.variables = variables;
  node.tile_shape = loop.tile_shape;
  node.component = loop.component;
  node.dimension = loop.dimension;
  return Node{node};
}

Node compute_node(const Pmapping& pmapping) {
  ComputeNode node;
  node.einsum = pmapping.einsum;
  node.component = pmapping.compute;
  return Node{node};
}

NodeList to_nodes(const Pmapping& pmapping) {
  NodeList list;
  for (const NestNode& node : pmapping.nodes) {
    if (const auto* storage = std::get_if<NestStorage>(&node)) {
      list.push_back(storage_node(*storage));
    } else {
      const NestLoop& loop = std::get<NestLoop>(node);
      list.push_back(loop_node(loop, {loop.variable}));
    }
  }
  list.push_back(compute_node(pmapping));
  return list;
}

}  // namespace sluice::oracle
