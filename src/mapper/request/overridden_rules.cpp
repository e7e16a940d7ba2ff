#include "overridden_rules.h"

#include <algorithm>

#include "mapper/common/first_memory.h"
#include "mapper/common/keep_rules.h"
#include "model/bind/operand_costs.h"

namespace sluice {
namespace {

/// Whether `keep` may ask a memory to hold a tensor for some Einsum.
bool may_have_to_keep(const BoundProblem& problem, ComponentId memory, TensorId tensor) {
  const TensorPolicy* policy = problem.arch[memory].tensor_policy();
  if (policy == nullptr) return false;
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    const int t = einsum.local_tensor[tensor.index()];
    return t >= 0 &&
           may_name(policy->keep, einsum.components[memory.index()].keep, TensorMask{1} << t);
  });
}

/// Whether the rules keep the tensor out of a memory for some Einsum.
bool is_kept_out(const BoundProblem& problem, ComponentId memory, TensorId tensor) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    if (einsum.local_tensor[tensor.index()] < 0) return false;
    const Hold hold = hold_of(problem, einsum.einsum, memory, tensor);
    return !hold.must && !hold.may;
  });
}

bool overrides(const BoundProblem& problem, const StorageConstraint& constraint) {
  return std::any_of(constraint.forbid.begin(), constraint.forbid.end(),
                     [&](TensorId tensor) {
                       return may_have_to_keep(problem, constraint.memory, tensor);
                     }) ||
         std::any_of(constraint.keep.begin(), constraint.keep.end(), [&](TensorId tensor) {
           return is_kept_out(problem, constraint.memory, tensor);
         });
}

/// Whether the rules keep the tensor out of some memory that is the outermost of a compute.
bool is_kept_off_outermost(const BoundProblem& problem, TensorId tensor) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes) {
      const auto first = first_memory(problem, einsum, compute);
      if (first && is_kept_out(problem, *first, tensor)) return true;
    }
  return false;
}

/// A fused tensor may stand in no memory above the one it is backed in.
bool overrides(const BoundProblem& problem, const FusionConstraint& constraint) {
  if (!constraint.fused) return is_kept_off_outermost(problem, constraint.tensor);
  if (constraint.memory && is_kept_out(problem, *constraint.memory, constraint.tensor)) return true;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (constraint.memory != ComponentId(c) &&
        may_have_to_keep(problem, ComponentId(c), constraint.tensor))
      return true;
  return false;
}

}  // namespace

bool may_override_keep(const BoundProblem& problem, const Constraints& constraints) {
  const auto any = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& constraint) { return overrides(problem, constraint); });
  };
  return any(constraints.storage) || any(constraints.fusion);
}

}  // namespace sluice
