#include "part_of_problem.h"

#include <algorithm>

#include "contains.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/support/error.h"

namespace sluice {

namespace {

/// Intermediates of the whole workload that an Einsum shares with Einsums outside of the part; none
/// of a copy, whose tensors lie in one memory wherever that is.
TensorMask crossing_tensors(const BoundProblem& problem, EinsumId einsum,
                            const std::vector<EinsumId>& part) {
  if (problem.workload[einsum].is_copy_operation) return 0;
  const std::vector<TensorId>& tensors = problem[einsum].tensors;
  TensorMask crossing = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::vector<EinsumId> users = problem.roles.users(tensors[t]);
    if (problem.roles.is_intermediate(tensors[t]) &&
        !std::all_of(users.begin(), users.end(),
                     [&](EinsumId user) { return contains(part, user); }))
      crossing |= TensorMask{1} << t;
  }
  return crossing;
}

/// What the architecture says of the Einsum in the whole workload (`Intermediates` are others
/// there), but for what the outermost memory is to hold: inputs and results of the part, and what
/// others share (`crossing`).
void bind_as_in_whole(const BoundEinsum& whole, ComponentId outermost, TensorMask crossing,
                      BoundEinsum* part) {
  const BoundComponent own = std::move(part->components[outermost.index()]);
  part->components = whole.components;
  part->computes = whole.computes;
  BoundComponent& memory = part->components[outermost.index()];
  take_rules(own, &memory);
  memory.asked |= crossing;
}

}  // namespace

void take_rules(const BoundComponent& from, BoundComponent* component) {
  component->keep = from.keep;
  component->may_keep = from.may_keep;
  component->back = from.back;
  component->asked = from.asked;
  component->forbidden = from.forbidden;
}

Result<BoundProblem> bind_part(const BoundProblem& problem, const std::vector<EinsumId>& einsums) {
  const Workload& whole = problem.workload;
  Workload part = {whole.name,    whole.ranks, whole.rank_variables,
                   whole.tensors, {},          whole.n_instances};
  for (const EinsumId einsum : einsums) part.einsums.push_back(whole[einsum]);
  auto bound = bind(part, problem.arch, problem.algorithms);
  const auto outermost = outermost_memory(problem.arch);
  if (!bound || !outermost) return bound;
  for (std::size_t e = 0; e < einsums.size(); ++e)
    bind_as_in_whole(problem[einsums[e]], *outermost,
                     crossing_tensors(problem, einsums[e], einsums), &bound->einsums[e]);
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
