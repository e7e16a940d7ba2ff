#include "mapper/request/constraint_check.h"

#include <algorithm>

#include "mapper/common/contains.h"
#include "mapper/common/first_memory.h"
#include "mapper/request/constraint_fault.h"
#include "mapper/request/einsum_walk.h"

namespace sluice {
namespace {

void collect(const NodeList& nodes, std::vector<const CollectiveNode*>& collectives) {
  for (const Node& node : nodes) {
    if (const auto* collective = std::get_if<CollectiveNode>(&node.kind))
      collectives.push_back(collective);
    else if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) collect(child, collectives);
  }
}

class ConstraintCheck {
 public:
  ConstraintCheck(const BoundProblem& problem, const Mapping& mapping)
      : problem_(problem), ways_(walks_of(problem.workload, mapping)) {
    collect(mapping.nodes, collectives_);
  }

  /// Calls `function(constraint)` for those that are broken.
  template <class Function>
  void for_each_broken(const Constraints& constraints, Function function) const {
    const auto check = [&](const auto& list) {
      for (const auto& constraint : list)
        if (!holds(constraint)) function(constraint);
    };
    check(constraints.storage);
    check(constraints.tiles);
    check(constraints.spatial);
    check(constraints.fusion);
    check(constraints.loop_orders);
    check(constraints.schedules);
    check(constraints.collectives);
  }

  BrokenConstraint describe(const StorageConstraint& c) const { return with_fault(c, c.memory); }
  BrokenConstraint describe(const TileConstraint& c) const { return with_fault(c, c.memory); }
  BrokenConstraint describe(const SpatialConstraint& c) const { return with_fault(c, c.component); }
  template <class Constraint>
  BrokenConstraint describe(const Constraint& constraint) const {
    return {constraint.name, "", nullptr, {}, {}, {}};
  }

 private:
  template <class Constraint>
  BrokenConstraint with_fault(const Constraint& c, ComponentId component) const {
    for (const EinsumWalk& way : ways_) {
      if (!concerns(c, way)) continue;
      if (const auto fault = find_fault(c, problem_, way))
        return {c.name,
                reason_of(c, *fault, problem_, way),
                fault->step != nullptr ? fault->step->node : nullptr,
                component,
                way.einsum,
                fault->tensor};
    }
    return {c.name, "", nullptr, component, {}, {}};
  }

  /// Constraints that may be limited to one Einsum hold where each Einsum they concern keeps them.
  template <class Constraint>
  bool holds(const Constraint& constraint) const {
    return std::all_of(ways_.begin(), ways_.end(), [&](const EinsumWalk& way) {
      return !concerns(constraint, way) || keeps(constraint, way);
    });
  }

  template <class Constraint>
  bool keeps(const Constraint& constraint, const EinsumWalk& way) const {
    return !find_fault(constraint, problem_, way);
  }

  /// Temporal loops from the innermost node of the memory to that of the next one further in.
  bool keeps(const LoopOrderConstraint& c, const EinsumWalk& way) const {
    std::optional<ComponentId> next;
    for (const WalkedStep& step : way.steps)
      if (step.storage && c.memory < step.storage->component)
        next = std::min(next.value_or(step.storage->component), step.storage->component);
    const auto begin = innermost_node(way, c.memory);
    const auto end = next ? innermost_node(way, *next) : way.steps.end();
    if (begin == way.steps.end()) return true;
    std::ptrdiff_t last = 0;
    for (auto step = begin; step < end; ++step) {
      if (step->storage || step->loop.component) continue;
      const auto at = std::find(c.order.begin(), c.order.end(), step->loop.variable);
      if (at == c.order.end()) continue;
      if (at - c.order.begin() < last) return false;
      last = at - c.order.begin();
    }
    return true;
  }

  bool holds(const FusionConstraint& c) const {
    return std::all_of(ways_.begin(), ways_.end(), [&](const EinsumWalk& way) {
      const auto backing = backing_memory(way, c.tensor);
      if (!backing) return true;
      const bool is_fused = *backing != outermost_memory(way);
      return c.fused ? is_fused && (!c.memory || *c.memory == *backing) : !is_fused;
    });
  }

  /// The outermost memory that holds a tensor for an Einsum; none where it does not use it.
  std::optional<ComponentId> backing_memory(const EinsumWalk& way, TensorId tensor) const {
    for (const WalkedStep& step : way.steps)
      if (step.storage && problem_.arch[step.storage->component].is_memory() &&
          contains(step.storage->tensors, tensor))
        return step.storage->component;
    return std::nullopt;
  }

  /// Of the memories above the Einsum's compute, those that it may use.
  std::optional<ComponentId> outermost_memory(const EinsumWalk& way) const {
    const BoundEinsum& bound = problem_[way.einsum];
    for (const BoundCompute& compute : bound.computes)
      if (compute.component == way.compute) return first_memory(problem_, bound, compute);
    return std::nullopt;
  }

  /// Einsums without a common split run one after the other.
  bool holds(const ScheduleConstraint& c) const {
    const EinsumWalk* first = nullptr;
    std::size_t common = 0;
    for (const EinsumWalk& way : ways_) {
      if (!contains(c.einsums, way.einsum)) continue;
      if (first == nullptr) {
        first = &way;
        common = way.splits.size();
      }
      const auto parted = std::mismatch(first->splits.begin(), first->splits.end(),
                                        way.splits.begin(), way.splits.end());
      common = std::min(common, static_cast<std::size_t>(parted.first - first->splits.begin()));
    }
    const SplitKind kind = common == 0 ? SplitKind::kSequential : first->splits[common - 1]->kind;
    return first == nullptr || kind == c.kind;
  }

  bool holds(const CollectiveConstraint& c) const {
    bool any = false;
    for (const CollectiveNode* node : collectives_) {
      if (node->tensor != c.tensor) continue;
      any = true;
      if (!c.types.empty() && !contains(c.types, node->type)) return false;
      if (!c.over.empty() &&
          !std::is_permutation(c.over.begin(), c.over.end(), node->over.begin(), node->over.end()))
        return false;
      if (!c.algorithms.empty() && !contains(c.algorithms, node->algorithm)) return false;
    }
    return any;
  }

  const BoundProblem& problem_;
  std::vector<EinsumWalk> ways_;
  std::vector<const CollectiveNode*> collectives_;
};

}  // namespace

std::vector<std::string> constraint_violations(const Constraints& constraints,
                                               const BoundProblem& problem,
                                               const Mapping& mapping) {
  if (constraints == Constraints{}) return {};  // searches ask for every mapping
  std::vector<std::string> names;
  ConstraintCheck(problem, mapping).for_each_broken(constraints, [&](const auto& constraint) {
    names.push_back(constraint.name);
  });
  return names;
}

std::vector<BrokenConstraint> broken_constraints(const Constraints& constraints,
                                                 const BoundProblem& problem,
                                                 const Mapping& mapping) {
  std::vector<BrokenConstraint> broken;
  const ConstraintCheck check(problem, mapping);
  check.for_each_broken(
      constraints, [&](const auto& constraint) { broken.push_back(check.describe(constraint)); });
  return broken;
}

}  // namespace sluice
