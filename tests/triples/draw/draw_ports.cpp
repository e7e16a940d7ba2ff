#include <algorithm>

#include "triples/draw/tree_draw.h"

// Loops over the instances of the outermost memory.

namespace sluice::triples {
namespace {

bool indexes_all_of(const Einsum& einsum, RankVariableId variable) {
  return std::all_of(einsum.accesses.begin(), einsum.accesses.end(),
                     [&](const TensorAccess& access) {
                       return relevance(access, variable) == Relevance::kRelevant;
                     });
}

bool is_above_memories(const ComponentSpec& component) {
  return component.kind == ComponentSpec::Kind::kContainer && component.name == "Chip";
}

}  // namespace

bool has_common_variable(const Workload& workload) {
  return std::all_of(workload.einsums.begin(), workload.einsums.end(), [](const Einsum& einsum) {
    return std::any_of(
        einsum.iteration_space.begin(), einsum.iteration_space.end(),
        [&](const VariableRange& range) { return indexes_all_of(einsum, range.variable); });
  });
}

bool TreeDraw::indexes_all(const std::vector<RankVariableId>& variables) const {
  return std::all_of(w_.einsums.begin(), w_.einsums.end(), [&](const Einsum& einsum) {
    const auto walked =
        std::find_if(variables.begin(), variables.end(),
                     [&](RankVariableId variable) { return uses_variable(einsum, variable); });
    return walked != variables.end() && indexes_all_of(einsum, *walked);
  });
}

void TreeDraw::port_loops(std::vector<NodeSpec>& list) {
  for (const ComponentSpec& component : triple_.components)
    if (component.name == "DRAM" || is_above_memories(component))
      for (const DimensionSpec& dimension : component.spatial)
        if (dice_.chance(80)) port_loop(list, component, dimension);
}

void TreeDraw::port_loop(std::vector<NodeSpec>& list, const ComponentSpec& component,
                         const DimensionSpec& dimension) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::vector<RankVariableId> variables =
        w_.einsums.size() == 1 ? std::vector{any_variable(0)} : shared_class();
    if (!indexes_all(variables) && !dice_.chance(1)) continue;
    const std::int64_t whole = smallest_tile(variables);
    const std::int64_t tile = tile_below(std::max<std::int64_t>(1, whole));
    if ((whole + tile - 1) / tile > dimension.fanout && !dice_.chance(1)) continue;
    NodeSpec node = loop_over(variables, tile);
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = component.name;
    node.dimension = dimension.name;
    list.push_back(node);
    enter_loop(variables, tile);
    return;
  }
}

}  // namespace sluice::triples
