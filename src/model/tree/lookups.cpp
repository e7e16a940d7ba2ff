#include "model/tree/lookups.h"

#include <algorithm>
#include <vector>

#include "sluice/support/checked.h"

namespace sluice {

const NestLoop* loop_at_node(const FlatTree& tree, const Nest& nest, const Node* node) {
  for (auto l = nest.loops_begin; l < nest.loops_end; ++l)
    if (tree.loops[l].node == node) return &tree.loops[l];
  return nullptr;
}

const NestStorage* backing_of(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                              TensorId tensor) {
  const int local = problem[nest.einsum].local_tensor[tensor.index()];
  for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
    if (tree.storages[s].tensor == local && tree.entries[tree.storages[s].entry].backing)
      return &tree.storages[s];
  return nullptr;
}

const Nest* nest_of_maker(const BoundProblem& problem, const FlatTree& tree, TensorId tensor) {
  const std::optional<EinsumId> producer = problem.roles.sole_maker(tensor);
  if (!producer) return nullptr;
  const int place = tree.place_of[producer->index()];
  if (place < 0 || static_cast<std::size_t>(place) >= tree.nests.size()) return nullptr;
  return &tree.nests[static_cast<std::size_t>(place)];
}

std::optional<FannedDimension> dimension_on_path(const Arch& arch, const BoundCompute& compute,
                                                 const std::string& name) {
  for (ComponentId component : compute.path)
    for (std::uint32_t d = 0; d < arch[component].spatial.size(); ++d)
      if (arch[component].spatial[d].name == name) return FannedDimension{component, d};
  return std::nullopt;
}

std::int64_t instances_in(const FlatTree& tree, const Nest& nest, int n_loops,
                          FannedDimension dimension) {
  std::int64_t product = 1;
  for (int l = 0; l < n_loops; ++l) {
    const NestLoop& loop = tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
    if (loop.spatial && FannedDimension{loop.component, loop.dimension} == dimension)
      product = checked_multiply(product, loop.trips);
  }
  return product;
}

std::int64_t instances_used(const FlatTree& tree, const FlatCollective& flat, const Nest& maker,
                            FannedDimension dimension) {
  std::int64_t product = 1;
  for (const Node* node : flat.maker_loops) {
    const NestLoop* loop = loop_at_node(tree, maker, node);
    if (loop && loop->spatial && FannedDimension{loop->component, loop->dimension} == dimension)
      product = checked_multiply(product, loop->trips);
  }
  for (const FlatCollective::Reader& reader : flat.readers)
    product =
        std::max(product, instances_in(tree, tree.nests[static_cast<std::size_t>(reader.place)],
                                       reader.loops, dimension));
  return product;
}

const FlatCollective* mover_of(const FlatTree& tree, TensorId tensor) {
  for (std::uint32_t index : tree.collectives_on(tensor))
    if (tree.collectives[index].moves) return &tree.collectives[index];
  return nullptr;
}

bool is_moved_between(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      TensorId tensor, const NestLoop& loop) {
  const FlatCollective* mover = mover_of(tree, tensor);
  if (!mover || !loop.spatial || !nest.compute) return false;
  for (const std::string& name : mover->collective->over)
    if (dimension_on_path(problem.arch, *nest.compute, name) ==
        FannedDimension{loop.component, loop.dimension})
      return true;
  return false;
}

const FlatForward* forward_of(const FlatTree& tree, TensorId tensor) {
  const auto found = std::lower_bound(
      tree.forwards_by_tensor.begin(), tree.forwards_by_tensor.end(), tensor,
      [&](std::uint32_t index, TensorId wanted) { return tree.forwards[index].tensor < wanted; });
  if (found == tree.forwards_by_tensor.end() || tree.forwards[*found].tensor != tensor)
    return nullptr;
  return &tree.forwards[*found];
}

bool is_forwarded_below(const FlatTree& tree, TensorId tensor, const NestLoop& loop) {
  const FlatForward* forward = forward_of(tree, tensor);
  if (!forward) return false;
  const std::vector<const Node*>& above = tree.concurrent[forward->split].loops_above;
  return std::find(above.begin(), above.end(), loop.node) == above.end();
}

}  // namespace sluice
