#include "too_small.h"

#include <utility>

#include "mapper/common/too_small_text.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/space/template.h"

namespace sluice {
namespace {

/// What `keep` names whatever other memories hold.
TensorMask always_kept(const Component& component, const BoundComponent& bound) {
  const TensorPolicy* policy = component.tensor_policy();
  if (policy == nullptr || !policy->keep || bound.keep.table.empty()) return 0;
  TensorMask kept = ~TensorMask{0};
  for (const TensorMask named : bound.keep.table) kept &= named;
  return kept;
}

std::optional<NoMapping> too_small_for(const BoundProblem& problem, const BoundEinsum& einsum,
                                       ComponentId id) {
  const Component& component = problem.arch[id];
  const BoundComponent& bound = einsum.components[id.index()];
  if (!component.is_memory() || !bound.enabled) return std::nullopt;
  const TensorMask kept = always_kept(component, bound);
  NoMapping no;
  double bits = 0;
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t) {
    if (((kept >> t) & 1) == 0) continue;
    bits += bound.bits_per_value[t] * (fused::is_double_buffered(component) ? 2 : 1);
    no.tensors.push_back(einsum.tensors[t]);
  }
  if (bits <= bound.size_bits) return std::nullopt;
  no.einsum = einsum.einsum;
  no.memory = id;
  no.excess_bits = bits - bound.size_bits;
  tell_too_small(problem, &no);
  return no;
}

/// On the way to each of the computes that accept the Einsum.
std::optional<NoMapping> too_small_for(const BoundProblem& problem, const BoundEinsum& einsum) {
  std::optional<NoMapping> first;
  for (const BoundCompute& compute : einsum.computes) {
    std::optional<NoMapping> no;
    for (const ComponentId id : compute.path)
      if (!no) no = too_small_for(problem, einsum, id);
    if (!no) return std::nullopt;
    if (!first) first = std::move(no);
  }
  return first;
}

double needed_by(const BoundProblem& problem, const NoMapping& no) {
  return problem[*no.einsum].components[no.memory->index()].size_bits + no.excess_bits;
}

}  // namespace

std::optional<NoMapping> too_small_memory(const BoundProblem& problem,
                                          const Constraints& constraints) {
  if (may_override_keep(problem, constraints)) return std::nullopt;
  std::optional<NoMapping> most;
  for (const BoundEinsum& einsum : problem.einsums) {
    // What a copy reads and writes may be one and the same.
    if (problem.workload[einsum.einsum].is_copy_operation) continue;
    auto no = too_small_for(problem, einsum);
    if (no && (!most ||
               (no->memory == most->memory && needed_by(problem, *no) > needed_by(problem, *most))))
      most = std::move(no);
  }
  return most;
}

}  // namespace sluice
