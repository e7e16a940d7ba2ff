#include "part_of_problem.h"

#include "sluice/support/error.h"

namespace sluice {

Result<BoundProblem> bind_part(const BoundProblem& problem, const std::vector<EinsumId>& einsums) {
  const Workload& whole = problem.workload;
  Workload part = {whole.name,    whole.ranks, whole.rank_variables,
                   whole.tensors, {},          whole.n_instances};
  for (const EinsumId einsum : einsums) part.einsums.push_back(whole[einsum]);
  return bind(part, problem.arch, problem.algorithms);
}

BoundProblem part_of_problem(const BoundProblem& problem, const std::vector<EinsumId>& einsums) {
  auto bound = bind_part(problem, einsums);
  SLUICE_CHECK(bound.has_value(), "a part of a workload that was bound does not bind");
  return std::move(*bound);
}

BoundProblem one_as_bound(const BoundProblem& problem, EinsumId einsum) {
  BoundProblem one;
  const Workload& whole = problem.workload;
  one.workload = {whole.name,    whole.ranks,     whole.rank_variables,
                  whole.tensors, {whole[einsum]}, whole.n_instances};
  one.arch = problem.arch;
  one.roles = tensor_roles(one.workload);
  one.einsums = {problem[einsum]};
  one.einsums.front().einsum = EinsumId(0);
  return one;
}

}  // namespace sluice
