#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/tree/lookups.h"
#include "model/tree/violation_report.h"

namespace sluice {

/// A collective whose rules are checked: what its checks know of it, and how they refuse it.
class CollectiveSubject {
 public:
  CollectiveSubject(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                    const FlatCollective& flat)
      : problem_(problem), tree_(tree), report_(report), flat_(flat), node_(*flat.collective) {}

 protected:
  /// Both are false: nothing else is checked then.
  bool add(ViolationKind kind, const std::string& why) {
    Violation& violation = report_.add(
        kind, flat_.node,
        "The " + collective_name(node_.type) + " of " + report_.name(node_.tensor) + ": " + why);
    violation.tensors = {node_.tensor};
    violation.component = node_.src;
    return false;
  }
  bool refuse(const std::string& why) { return add(ViolationKind::kCollective, why); }

  bool is_above(const Node* loop) const {
    return std::find(flat_.loops_above.begin(), flat_.loops_above.end(), loop) !=
           flat_.loops_above.end();
  }
  std::int64_t used(FannedDimension dimension) const {
    return instances_used(tree_, flat_, *maker_, dimension);
  }
  bool is_irrelevant(const NestLoop& loop) const {
    const BoundEinsum& einsum = problem_[maker_->einsum];
    const int local = einsum.local_tensor[node_.tensor.index()];
    return einsum.relevance[static_cast<std::size_t>(local)]
                           [static_cast<std::size_t>(loop.variable)] == Relevance::kIrrelevant;
  }
  const std::string& variable_name(const NestLoop& loop) const {
    return variable_name(*maker_, loop);
  }
  const std::string& variable_name(const Nest& nest, const NestLoop& loop) const {
    return report_.name(problem_.workload[nest.einsum]
                            .iteration_space[static_cast<std::size_t>(loop.variable)]
                            .variable);
  }
  int depth_of(ComponentId component) const { return maker_->compute->depth[component.index()]; }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const FlatCollective& flat_;
  const CollectiveNode& node_;
  const Nest* maker_ = nullptr;
  std::vector<FannedDimension> over_;
};

/// Whether a collective "from one layout to another" (docs/collectives.md) is as it must be: a way
/// without other loops at both ends, layouts of its type, equal tiles. Refuses it otherwise.
bool check_move(const CollectiveSubject& subject);

}  // namespace sluice
