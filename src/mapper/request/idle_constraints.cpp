#include "mapper/request/idle_constraints.h"

#include <algorithm>

#include "mapper/common/contains.h"
#include "mapper/request/einsum_walk.h"

namespace sluice {
namespace {

bool applies(const TileConstraint& c, const BoundProblem& problem, const EinsumWalk& way) {
  if (problem[way.einsum].local_variable[c.variable.index()] < 0) return false;
  return std::any_of(way.steps.begin(), way.steps.end(), [&](const WalkedStep& step) {
    if (!is_at(step, c.memory)) return false;
    const auto is_held = [&](TensorId tensor) { return contains(step.storage->tensors, tensor); };
    return c.tensors.empty() || std::any_of(c.tensors.begin(), c.tensors.end(), is_held);
  });
}

bool applies(const SpatialConstraint& c, const BoundProblem&, const EinsumWalk& way) {
  return std::any_of(way.steps.begin(), way.steps.end(), [&](const WalkedStep& step) {
    return !step.storage && step.loop.component == c.component &&
           step.loop.dimension == c.dimension;
  });
}

bool applies(const LoopOrderConstraint& c, const BoundProblem&, const EinsumWalk& way) {
  return innermost_node(way, c.memory) != way.steps.end();
}

}  // namespace

std::vector<std::string> idle_constraints(const Constraints& constraints,
                                          const BoundProblem& problem, const Mapping& mapping) {
  if (constraints.tiles.empty() && constraints.spatial.empty() && constraints.loop_orders.empty())
    return {};
  const std::vector<EinsumWalk> ways = walks_of(problem.workload, mapping);
  std::vector<std::string> idle;
  const auto look_at = [&](const auto& list) {
    for (const auto& c : list)
      if (std::none_of(ways.begin(), ways.end(), [&](const EinsumWalk& way) {
            return concerns(c, way) && applies(c, problem, way);
          }))
        idle.push_back(c.name);
  };
  look_at(constraints.tiles);
  look_at(constraints.spatial);
  look_at(constraints.loop_orders);
  return idle;
}

}  // namespace sluice
