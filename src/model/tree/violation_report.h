#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
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
  /// Where a node stands: in which child of which split (null at the root), and where in that list.
  struct NodeIndex {
    const Node* split = nullptr;
    std::size_t child = 0;
    std::size_t index = 0;
  };
  std::vector<std::size_t> indexed_path(const Node* node);
  void index(const NodeList& list, NodeIndex outer);

  const BoundProblem& problem_;
  const Mapping& mapping_;
  std::vector<Violation> violations_;
  std::unordered_map<const Node*, NodeIndex>
      places_;  ///< filled in where there are many violations
};

/// 1056 as `1,056`; fractions keep two digits.
std::string with_thousands(double value);

}  // namespace sluice
