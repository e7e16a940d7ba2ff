#include "constrained.h"

#include <fmt/format.h>

#include <utility>

#include "mapper/request/constraint_check.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {

std::vector<Violation> broken_constraints(const BoundProblem& problem, const Mapping& mapping,
                                          const std::optional<Constraints>& constraints) {
  std::vector<Violation> broken;
  if (!constraints) return broken;
  for (const std::string& name : constraint_violations(*constraints, problem, mapping)) {
    Violation violation{};
    violation.kind = ViolationKind::kConstraint;
    violation.message = fmt::format("The mapping breaks the constraint {}.", name);
    broken.push_back(std::move(violation));
  }
  return broken;
}

tl::expected<Cost, std::vector<Violation>> evaluate_constrained(
    const BoundProblem& problem, const Mapping& mapping, LatencyPolicy policy,
    const std::optional<Constraints>& constraints) {
  auto cost = evaluate(problem, mapping, policy);
  if (!cost) return cost;
  auto broken = broken_constraints(problem, mapping, constraints);
  if (!broken.empty()) return tl::make_unexpected(std::move(broken));
  return cost;
}

}  // namespace sluice::cli
