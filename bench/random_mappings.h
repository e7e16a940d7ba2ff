#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "problems.h"
#include "sluice/mapping/mapping.h"

namespace sluice::bench {

/// Memories on the way to a compute without a fanout above them; the loops are all temporal.
inline std::vector<ComponentId> plain_memories(const Arch& arch, const BoundCompute& compute) {
  std::vector<ComponentId> memories;
  for (ComponentId id : compute.path) {
    if (!arch[id].spatial.empty()) break;
    if (arch[id].is_memory()) memories.push_back(id);
  }
  return memories;
}

/// One Einsum: every tensor backed by the outermost memory, kept in each further one at a random
/// depth of a random loop nest.
inline NodeList random_branch(const BoundProblem& problem, const BoundEinsum& einsum,
                              std::mt19937& random) {
  std::vector<ComponentId> memories = plain_memories(problem.arch, einsum.computes.front());
  NodeList loops;
  for (const VariableRange& range : problem.workload[einsum.einsum].iteration_space) {
    const std::int64_t tile = random_divisor(range.size, random);
    loops.push_back({TemporalNode{{range.variable}, tile, std::nullopt}});
    loops.push_back({TemporalNode{{range.variable}, 1, std::nullopt}});
  }
  // Keep the outer loop of each variable before its inner one.
  std::vector<std::size_t> order(loops.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i / 2;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<char> outer_done(loops.size(), 0);
  NodeList list;
  for (TensorId tensor : einsum.tensors) {
    StorageNode node;
    node.tensors = {tensor};
    node.component = memories.front();
    list.push_back({node});
  }
  const std::size_t n_backing = list.size();
  for (std::size_t variable : order) {
    list.push_back(loops[2 * variable + static_cast<std::size_t>(outer_done[variable])]);
    outer_done[variable] = 1;
  }
  for (TensorId tensor : einsum.tensors) {
    std::size_t place = n_backing;
    for (std::size_t m = 1; m < memories.size(); ++m) {
      place += random() % (list.size() - place + 1);
      StorageNode node;
      node.tensors = {tensor};
      node.component = memories[m];
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), {node});
      ++place;
    }
  }
  list.push_back({ComputeNode{einsum.einsum, einsum.computes.front().component}});
  return list;
}

inline Mapping random_mapping(const BoundProblem& problem, std::mt19937& random) {
  SplitNode split;
  for (const BoundEinsum& einsum : problem.einsums)
    split.children.push_back(random_branch(problem, einsum, random));
  return {{Node{split}}, {}};
}

}  // namespace sluice::bench
