#include "model/systolic.h"

#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// The container with a systolic array on the way to a compute.
std::optional<ComponentId> array_of(const Arch& arch, const BoundCompute& compute) {
  for (ComponentId id : compute.path)
    if (const Container* container = std::get_if<Container>(&arch[id].kind))
      if (container->array) return id;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> systolic_cycles(const BoundProblem& problem, const FlatTree& tree,
                                            const Nest& nest) {
  const auto id = array_of(problem.arch, *nest.compute);
  if (!id) return std::nullopt;
  const Component& component = problem.arch[*id];
  const SystolicArray& array = *std::get<Container>(component.kind).array;
  std::int64_t rows = 1, columns = 1, inside = 1, outside = 1;
  bool entered = false;
  for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& loop = tree.loops[l];
    if (loop.spatial && loop.component == *id) {
      entered = true;
      const std::string& name = component.spatial[loop.dimension].name;
      if (name == array.rows) rows = checked_multiply(rows, loop.trips);
      if (name == array.cols) columns = checked_multiply(columns, loop.trips);
    } else if (!loop.spatial) {
      std::int64_t& steps = entered ? inside : outside;
      steps = checked_multiply(steps, loop.trips);
    }
  }
  if (!entered) return std::nullopt;
  return checked_multiply(outside, 2 * rows + columns + inside - 2);
}

}  // namespace sluice
