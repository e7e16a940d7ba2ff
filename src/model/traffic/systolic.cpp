#include "model/traffic/systolic.h"

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

}  // namespace

std::optional<ArrayFolds> array_folds(const BoundProblem& problem, const FlatTree& tree,
                                      const Nest& nest) {
  for (std::uint32_t l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& loop = tree.loops[l];
    if (!loop.spatial) continue;
    const Container* container = std::get_if<Container>(&problem.arch[loop.component].kind);
    if (container && container->array)
      return ArrayFolds{loop.component, fill_and_drain(problem, nest.einsum, loop.component),
                        static_cast<int>(l - nest.loops_begin)};
  }
  return std::nullopt;
}

}  // namespace sluice
