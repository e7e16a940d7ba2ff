#include "model/traffic/systolic.h"

#include <algorithm>

namespace sluice {
namespace {

std::int64_t fanout(const Component& component, const BoundComponent& bound,
                    const std::string& dimension) {
  for (std::size_t d = 0; d < component.spatial.size(); ++d)
    if (component.spatial[d].name == dimension) return bound.spatial[d].fanout;
  return 1;
}

std::int64_t fill_and_drain(const BoundProblem& problem, EinsumId einsum, ComponentId id) {
  const Component& component = problem.arch[id];
  const SystolicArray& array = *std::get<Container>(component.kind).array;
  const BoundComponent& bound = problem[einsum].components[id.index()];
  const std::int64_t rows = fanout(component, bound, array.rows);
  const std::int64_t columns = fanout(component, bound, array.cols);
  const bool loads = array.dataflow != SystolicArray::Dataflow::kOutputStationary;
  return (loads ? rows : 0) + rows + columns - 2;
}

/// Loops above the node that holds what stays in the array during a fold: of what may stay, the
/// tensor that is brought in anew least often. 0 where nothing is held there.
int loops_above_what_stays(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                           ComponentId array) {
  const bool outputs_stay = std::get<Container>(problem.arch[array].kind).array->dataflow ==
                            SystolicArray::Dataflow::kOutputStationary;
  const BoundEinsum& einsum = problem[nest.einsum];
  const TensorMask may_stay = outputs_stay ? einsum.output : einsum.inputs;
  const std::vector<int>& depth = nest.compute->depth;
  int fewest = -1;
  TensorMask seen = 0;  // further in, a tensor comes from within the array
  for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
    const NestStorage& storage = tree.storages[s];
    const TensorMask bit = TensorMask{1} << storage.tensor;
    if (!(may_stay & bit) || (seen & bit) ||
        depth[storage.component.index()] <= depth[array.index()] ||
        problem.arch[storage.component].is_toll())
      continue;
    seen |= bit;
    if (fewest < 0 || storage.loops_above < fewest) fewest = storage.loops_above;
  }
  return std::max(fewest, 0);
}

}  // namespace

std::optional<ArrayFolds> array_folds(const BoundProblem& problem, const FlatTree& tree,
                                      const Nest& nest) {
  for (std::uint32_t l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& loop = tree.loops[l];
    if (!loop.spatial) continue;
    const Container* container = std::get_if<Container>(&problem.arch[loop.component].kind);
    if (container && container->array)
      return ArrayFolds{loop.component, fill_and_drain(problem, nest.einsum, loop.component),
                        std::max(static_cast<int>(l - nest.loops_begin),
                                 loops_above_what_stays(problem, tree, nest, loop.component))};
  }
  return std::nullopt;
}

}  // namespace sluice
