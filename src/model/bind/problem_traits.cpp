#include "model/bind/problem_traits.h"

#include <utility>
#include <vector>

namespace sluice {
namespace {

bool like(const TensorAccess& a, const Einsum& of_a, const TensorAccess& b, const Einsum& of_b) {
  for (std::size_t r = 0; r < a.projection.size(); ++r) {
    const AffineExpression &x = a.projection[r], &y = b.projection[r];
    if (x.constant != y.constant || x.terms.size() != y.terms.size()) return false;
    if (x.terms.empty()) continue;
    if (!x.goes_one_by_one() || !y.goes_one_by_one()) return false;
    const auto range = [](const Einsum& einsum, RankVariableId variable) {
      for (const VariableRange& found : einsum.iteration_space)
        if (found.variable == variable) return std::pair(found.minimum, found.size);
      return std::pair<std::int64_t, std::int64_t>(0, 0);
    };
    if (range(of_a, x.terms[0].variable) != range(of_b, y.terms[0].variable)) return false;
  }
  return true;
}

}  // namespace

bool shares_rows(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundAccess& access : einsum.accesses) {
      if (access.is_output) continue;
      if (!problem.roles.is_made(einsum.tensors[static_cast<std::size_t>(access.tensor)])) continue;
      for (Relevance seen : access.relevance)
        if (seen == Relevance::kPartial) return true;
    }
  return false;
}

bool holds_unlike_boxes(const BoundProblem& problem) {
  struct First {
    const TensorAccess* access = nullptr;
    const Einsum* einsum = nullptr;
  };
  std::vector<First> first(problem.workload.tensors.size());
  for (const Einsum& einsum : problem.workload.einsums)
    for (const TensorAccess& access : einsum.accesses) {
      First& other = first[access.tensor.index()];
      if (!other.access)
        other = {&access, &einsum};
      else if (!like(access, einsum, *other.access, *other.einsum))
        return true;
    }
  return false;
}

}  // namespace sluice
