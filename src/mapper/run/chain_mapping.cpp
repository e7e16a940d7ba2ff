#include "chain_mapping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

/// Nodes of one Einsum's chain.
NodeList nest_of(const BoundProblem& problem, EinsumId id, const Chain& chain) {
  const Einsum& einsum = problem.workload[id];
  std::vector<std::int64_t> tile;
  for (const VariableRange& range : einsum.iteration_space) tile.push_back(range.size);
  NodeList nodes;
  std::vector<char> is_backed(problem.workload.tensors.size(), 0);
  for (const auto& step : chain.steps) {
    if (const auto* held = std::get_if<ChainNode>(&step)) {
      StorageNode node;
      node.tensors = {held->tensor};
      node.component = held->memory;
      node.sliding = held->sliding;
      char& backed = is_backed[held->tensor.index()];
      node.persistent = backed == 0 && problem.workload[held->tensor].persistent;
      backed = 1;
      nodes.push_back({std::move(node)});
      continue;
    }
    const ChainLoop& loop = std::get<ChainLoop>(step);
    const std::vector<RankVariableId> variables = {einsum.iteration_space[loop.variable].variable};
    const std::int64_t inside = tile[loop.variable] /= loop.trips;
    if (loop.spatial) {
      SpatialNode node;
      node.variables = variables;
      node.tile_shape = inside;
      node.component = loop.spatial->first;
      node.dimension = loop.spatial->second;
      nodes.push_back({std::move(node)});
    } else {
      TemporalNode node;
      node.variables = variables;
      node.tile_shape = inside;
      nodes.push_back({std::move(node)});
    }
  }
  nodes.push_back({ComputeNode{id, chain.compute}});
  return nodes;
}

/// Takes the first nodes of a nest's tensors, which stand above all else in the outermost memory.
bool move_to_root(std::size_t n_tensors, ComponentId outermost, NodeList* nest, NodeList* root) {
  for (std::size_t n = 0; n < n_tensors; ++n) {
    auto* node = std::get_if<StorageNode>(&(*nest)[n].kind);
    if (node == nullptr || node->component != outermost) return false;
    const TensorId tensor = node->tensors.front();
    const bool is_there = std::any_of(root->begin(), root->end(), [&](const Node& other) {
      return std::get<StorageNode>(other.kind).tensors.front() == tensor;
    });
    if (!is_there) root->push_back(std::move((*nest)[n]));
  }
  nest->erase(nest->begin(), nest->begin() + static_cast<std::ptrdiff_t>(n_tensors));
  return true;
}

}  // namespace

std::optional<Mapping> mapping_of(const BoundProblem& problem, const std::vector<Chain>& chains) {
  Mapping mapping;
  if (chains.size() == 1) {
    mapping.nodes = nest_of(problem, EinsumId(0), chains.front());
    return mapping;
  }
  const std::optional<ComponentId> outermost = outermost_memory(problem.arch);
  if (!outermost) return std::nullopt;
  SplitNode split;
  for (std::size_t e = 0; e < chains.size(); ++e) {
    NodeList nest = nest_of(problem, EinsumId(e), chains[e]);
    if (!move_to_root(problem[EinsumId(e)].tensors.size(), *outermost, &nest, &mapping.nodes))
      return std::nullopt;
    split.children.push_back(std::move(nest));
  }
  std::stable_partition(mapping.nodes.begin(), mapping.nodes.end(), [](const Node& node) {
    return std::get<StorageNode>(node.kind).persistent;
  });
  mapping.nodes.push_back({std::move(split)});
  return mapping;
}

}  // namespace sluice
