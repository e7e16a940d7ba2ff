#include "part_of_problem.h"

#include "sluice/arch/outermost_memory.h"
#include "sluice/support/error.h"

namespace sluice {

namespace {

/// What the architecture says of the Einsum in the whole workload (`Intermediates` are others
/// there), but for what the outermost memory is to hold: inputs and results of the part.
void bind_as_in_whole(const BoundEinsum& whole, ComponentId outermost, BoundEinsum* part) {
  BoundComponent own = std::move(part->components[outermost.index()]);
  part->components = whole.components;
  part->computes = whole.computes;
  BoundComponent& memory = part->components[outermost.index()];
  memory.keep = std::move(own.keep);
  memory.may_keep = std::move(own.may_keep);
  memory.back = std::move(own.back);
  memory.asked = own.asked;
  memory.forbidden = own.forbidden;
}

}  // namespace

Result<BoundProblem> bind_part(const BoundProblem& problem, const std::vector<EinsumId>& einsums) {
  const Workload& whole = problem.workload;
  Workload part = {whole.name,    whole.ranks, whole.rank_variables,
                   whole.tensors, {},          whole.n_instances};
  for (const EinsumId einsum : einsums) part.einsums.push_back(whole[einsum]);
  auto bound = bind(part, problem.arch, problem.algorithms);
  const auto outermost = outermost_memory(problem.arch);
  if (!bound || !outermost) return bound;
  for (std::size_t e = 0; e < einsums.size(); ++e)
    bind_as_in_whole(problem[einsums[e]], *outermost, &bound->einsums[e]);
  bound->bounds = cost_bounds(*bound);
  return bound;
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
