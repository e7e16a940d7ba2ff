#include "filled_fanouts.h"

#include "model/evaluate/take_apart.h"

namespace sluice {
namespace {

bool fills(const BoundProblem& problem, const FlatTree& tree, const Nest& nest) {
  const BoundEinsum& bound = problem[nest.einsum];
  for (const ComponentId component : nest.compute->path) {
    const auto& spatial = bound.components[component.index()].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      double used = 1;
      for (std::uint32_t l = nest.loops_begin; l < nest.loops_end; ++l)
        if (const NestLoop& loop = tree.loops[l];
            loop.spatial && loop.component == component && loop.dimension == d)
          used *= static_cast<double>(loop.trips);
      if (used < spatial[d].min_usage * static_cast<double>(spatial[d].fanout)) return false;
    }
  }
  return true;
}

}  // namespace

bool fills_fanouts(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport report(problem, mapping);
  const FlatTree tree = take_apart(problem, mapping, report);
  for (const Nest& nest : tree.nests)
    if (nest.compute == nullptr ||
        (!problem.workload[nest.einsum].is_copy_operation && !fills(problem, tree, nest)))
      return false;
  return true;
}

}  // namespace sluice
