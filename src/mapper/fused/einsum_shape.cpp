#include "einsum_shape.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

LocalTensor make_local_tensor(const BoundProblem& problem, const Einsum& einsum, TensorId id,
                              const std::vector<RankVariableId>& variables) {
  LocalTensor tensor;
  tensor.id = id;
  tensor.shared = problem.roles.is_shared(id);
  tensor.intermediate = problem.roles.is_intermediate(id);
  tensor.persistent = problem.workload[id].persistent;
  const TensorAccess* first = find_access(einsum, id);
  SLUICE_CHECK(first != nullptr, "a tensor of an Einsum has no access");
  for (const TensorAccess& access : einsum.accesses) {
    if (access.tensor != id) continue;
    (access.is_output ? tensor.is_output : tensor.is_input) = true;
  }
  for (std::size_t r = 0; r < first->projection.size(); ++r) {
    LocalRank rank;
    rank.rank = problem.workload[id].ranks[r];
    for (const AffineTerm& term : first->projection[r].terms) {
      const auto at = std::find(variables.begin(), variables.end(), term.variable);
      rank.terms.emplace_back(static_cast<std::uint32_t>(at - variables.begin()),
                              term.coefficient);
    }
    std::sort(rank.terms.begin(), rank.terms.end());
    tensor.ranks.push_back(std::move(rank));
  }
  for (RankVariableId variable : variables)
    tensor.relevance.push_back(relevance(*first, variable));
  return tensor;
}

}  // namespace

EinsumShape make_einsum_shape(const BoundProblem& problem, EinsumId id) {
  const Einsum& einsum = problem.workload[id];
  EinsumShape shape;
  shape.einsum = id;
  for (const VariableRange& range : einsum.iteration_space) {
    shape.variables.push_back(range.variable);
    shape.sizes.push_back(range.size);
  }
  for (TensorId tensor : problem[id].tensors)
    shape.tensors.push_back(make_local_tensor(problem, einsum, tensor, shape.variables));
  shape.is_copy = einsum.is_copy_operation;
  shape.multiplicity = static_cast<double>(problem.workload.n_instances) *
                       static_cast<double>(einsum.n_instances);
  return shape;
}

}  // namespace sluice::fused
