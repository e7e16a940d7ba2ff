#pragma once

#include <sluice/mapper/mapper.h>
#include <sluice/mapper/objective_value.h>
#include <sluice/model/evaluate.h>

#include <algorithm>
#include <vector>

namespace outside {

using namespace sluice;

/// Einsum after Einsum: all tensors in the outermost memory, one loop, a tile of every tensor in
/// the memory next to the compute, the other loops. Tries each variable as the outer loop, for all
/// Einsums the one in the same place.
class OneBuffer final : public Mapper {
 public:
  std::string name() const override { return "one_buffer"; }
  std::string description() const override { return "one tile of everything beside the compute"; }

  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override {
    MapperResult result;
    double best = 0;
    for (std::size_t outer = 0; outer < most_variables(problem); ++outer) {
      if (is_cancelled(control.cancel)) break;
      Mapping mapping = mapping_with(problem, outer);
      auto cost = evaluate(problem, mapping, options.policy);
      ++result.search.mappings_evaluated;
      if (!cost) continue;  // illegal: its violations say why
      const double value = objective_value(options.objectives.front(), *cost);
      if (!result.mappings.empty() && value >= best) continue;
      best = value;
      result.mappings = {{std::move(mapping), std::move(*cost)}};
    }
    result.cancelled = is_cancelled(control.cancel);
    if (!result.mappings.empty() || result.cancelled) return result;
    NoMapping no;
    no.reason = "no outer loop leaves tiles that fit beside the compute";
    no.proven = false;  // other mappings may be legal
    return tl::make_unexpected(no);
  }

 private:
  static std::size_t most_variables(const BoundProblem& problem) {
    std::size_t most = 0;
    for (const Einsum& einsum : problem.workload.einsums)
      most = std::max(most, einsum.iteration_space.size());
    return most;
  }

  static Mapping mapping_with(const BoundProblem& problem, std::size_t outer) {
    std::vector<TensorId> all;
    for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t) all.emplace_back(t);
    SplitNode in_order{.kind = SplitKind::kSequential};
    for (const BoundEinsum& einsum : problem.einsums)
      in_order.children.push_back(nest_of(problem, einsum, outer));
    const ComponentId outermost = memories_of(problem, problem.einsums.front()).front();
    return {{{StorageNode{.tensors = all, .component = outermost}}, {in_order}}, {}};
  }

  static NodeList nest_of(const BoundProblem& problem, const BoundEinsum& einsum,
                          std::size_t outer) {
    const auto& space = problem.workload[einsum.einsum].iteration_space;
    NodeList nest;
    const auto loop = [&](std::size_t v) {
      nest.push_back({TemporalNode{.variables = {space[v].variable}, .tile_shape = 1}});
    };
    outer %= space.size();
    loop(outer);
    nest.push_back(
        {StorageNode{.tensors = einsum.tensors, .component = memories_of(problem, einsum).back()}});
    for (std::size_t v = 0; v < space.size(); ++v)
      if (v != outer) loop(v);
    nest.push_back(
        {ComputeNode{.einsum = einsum.einsum, .component = einsum.computes.front().component}});
    return nest;
  }

  /// On the way to the Einsum's first compute, outermost first.
  static std::vector<ComponentId> memories_of(const BoundProblem& problem,
                                              const BoundEinsum& einsum) {
    std::vector<ComponentId> memories;
    for (const ComponentId id : einsum.computes.front().path)
      if (problem.arch[id].is_memory()) memories.push_back(id);
    return memories;
  }
};

}  // namespace outside
