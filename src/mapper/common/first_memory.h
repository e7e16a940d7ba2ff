#pragma once

#include <algorithm>
#include <optional>

#include "model/bind/operand_costs.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Of the memories above a compute of an Einsum, outermost first, the first that it may use.
inline std::optional<ComponentId> first_memory(const BoundProblem& problem,
                                               const BoundEinsum& einsum,
                                               const BoundCompute& compute) {
  const auto first =
      std::find_if(compute.path.begin(), compute.path.end(), [&](ComponentId component) {
        return problem.arch[component].is_memory() && einsum.components[component.index()].enabled;
      });
  return first == compute.path.end() ? std::nullopt : std::optional(*first);
}

/// Whether inputs and results of the workload lie in the outermost memory in all mappings.
inline bool keeps_all_outermost(const BoundProblem& problem) {
  const auto keeps = [&](const BoundEinsum& einsum, const BoundCompute& compute) {
    const auto first = first_memory(problem, einsum, compute);
    return first && std::all_of(einsum.tensors.begin(), einsum.tensors.end(), [&](TensorId own) {
             return problem.roles.is_intermediate(own) ||
                    hold_of(problem, einsum.einsum, *first, own).must;
           });
  };
  return std::all_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    return std::all_of(einsum.computes.begin(), einsum.computes.end(),
                       [&](const auto& compute) { return keeps(einsum, compute); });
  });
}

}  // namespace sluice
