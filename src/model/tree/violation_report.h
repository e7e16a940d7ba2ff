#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/violation.h"

namespace sluice {

/// Collects what is illegal about a mapping. Nothing here is on the path of a legal one.
class ViolationReport {
 public:
  ViolationReport(const BoundProblem& problem, const Mapping& mapping)
      : problem_(problem), mapping_(mapping) {}

  /// Adds a violation; `node` (may be null) is the offending node of the mapping.
  Violation& add(ViolationKind kind, const Node* node, std::string message);
  Violation& add(ViolationKind kind, const Node* node, std::string message, EinsumId einsum);

  const std::string& name(TensorId id) const { return problem_.workload[id].name; }
  const std::string& name(EinsumId id) const { return problem_.workload[id].name; }
  const std::string& name(ComponentId id) const { return problem_.arch[id].name; }
  const std::string& name(RankVariableId id) const { return problem_.workload[id].name; }
  std::string names(const std::vector<TensorId>& tensors) const;

  bool empty() const { return violations_.empty(); }
  bool has(ViolationKind kind) const {
    return std::any_of(violations_.begin(), violations_.end(),
                       [kind](const Violation& violation) { return violation.kind == kind; });
  }
  std::vector<Violation>& violations() { return violations_; }

 private:
  const BoundProblem& problem_;
  const Mapping& mapping_;
  std::vector<Violation> violations_;
};

/// 1056 as `1,056`; fractions keep two digits.
std::string with_thousands(double value);

}  // namespace sluice
