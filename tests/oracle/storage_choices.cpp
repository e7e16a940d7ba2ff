#include "oracle/storage_choices.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

/// Walks the memories of one compute's path, outermost first, and branches over what each one
/// keeps.
class ChoiceWalk {
 public:
  ChoiceWalk(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
             std::size_t most, std::vector<StorageChoice>& out)
      : problem_(problem),
        einsum_(einsum),
        bound_(problem[einsum]),
        compute_(compute),
        most_(most),
        out_(out) {
    for (ComponentId c : compute.path) {
      const Component& component = problem.arch[c];
      if (component.holds_tensors() && bound_.components[c.index()].enabled) memories_.push_back(c);
    }
    held_.assign(problem.arch.components.size(), 0);
  }

  void run() { choose(0, 0); }

 private:
  void choose(std::size_t level, TensorMask seen) {
    if (level == memories_.size()) {
      if (seen == all_tensors()) order_nodes();
      return;
    }
    const ComponentId memory = memories_[level];
    auto sets = keep_sets(problem_, einsum_, memory, held_);
    SLUICE_CHECK(sets.has_value(), "keep sets of a bound problem");
    TensorMask may = sets->may;
    TensorMask must = sets->must;
    if (is_copy()) may &= ~seen;  // a copy reuses nothing: a second place for a tensor is useless
    if (problem_.arch[memory].is_toll()) {  // nothing passes that is not backed further out
      may &= seen;
      must &= seen;
    }
    for (TensorMask subset = may; out_.size() <= most_; subset = (subset - 1) & may) {
      held_[memory.index()] = must | subset;
      choose(level + 1, seen | must | subset);
      if (subset == 0) break;
    }
    held_[memory.index()] = 0;
  }

  /// Splits the chosen nodes into the top ones, tolls and the rest, and orders the rest in every
  /// legal way.
  void order_nodes() {
    StorageChoice choice;
    choice.compute = &compute_;
    std::vector<NestStorage> nodes;
    TensorMask seen = 0;
    for (ComponentId memory : memories_) {
      for (std::size_t i = 0; i < bound_.tensors.size(); ++i) {
        const TensorMask bit = TensorMask{1} << i;
        if (!(held_[memory.index()] & bit)) continue;
        NestStorage node;
        node.tensor = bound_.tensors[i];
        node.component = memory;
        node.backing = !(seen & bit);
        // A copy moves from backing node to backing node: it passes no toll (leaves_out).
        if (is_copy() && !node.backing) continue;
        node.persistent = node.backing && problem_.workload[node.tensor].persistent;
        node.top = node.persistent || memory == memories_.front();
        node.toll = problem_.arch[memory].is_toll();
        (node.toll ? choice.tolls : node.top ? choice.top : nodes).push_back(node);
      }
      seen |= held_[memory.index()];
    }
    place_next(choice, nodes);
  }

  /// Appends one of the remaining nodes that none of the others must stand above, and goes on.
  void place_next(StorageChoice& choice, const std::vector<NestStorage>& left) {
    if (left.empty()) {
      if (follows_an_order_option(choice.rest)) out_.push_back(choice);
      return;
    }
    for (std::size_t i = 0; i < left.size() && out_.size() <= most_; ++i) {
      if (std::any_of(left.begin(), left.end(),
                      [&](const NestStorage& other) { return must_precede(other, left[i]); }))
        continue;
      std::vector<NestStorage> others = left;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      choice.rest.push_back(left[i]);
      place_next(choice, others);
      choice.rest.pop_back();
    }
  }

  const TensorPolicy& policy_of(ComponentId memory) const {
    return std::get<Memory>(problem_.arch[memory].kind).tensors;
  }

  /// Memories come from outside in; of different tensors, unless one of the memories lets go.
  bool must_precede(const NestStorage& a, const NestStorage& b) const {
    if (!(a.component < b.component)) return false;
    return a.tensor == b.tensor || (policy_of(a.component).force_memory_hierarchy_order &&
                                    policy_of(b.component).force_memory_hierarchy_order);
  }

  /// Each memory with options has one that its nodes follow.
  bool follows_an_order_option(const std::vector<NestStorage>& rest) const {
    return std::all_of(memories_.begin(), memories_.end(), [&](ComponentId memory) {
      if (problem_.arch[memory].is_toll()) return true;
      const auto& options = policy_of(memory).tensor_order_options;
      return options.empty() || std::any_of(options.begin(), options.end(), [&](const auto& o) {
               return follows(rest, memory, o);
             });
    });
  }

  bool follows(const std::vector<NestStorage>& rest, ComponentId memory,
               const std::vector<Expression>& groups) const {
    const ExpressionScope scope = tensor_set_scope(problem_.workload, problem_.roles, einsum_);
    std::vector<TensorMask> masks;
    for (const Expression& group : groups) {
      const auto value = group.evaluate(scope);
      SLUICE_CHECK(value.has_value(), "a generated group of tensors");
      masks.push_back(std::get<NameSet>(*value).bits);
    }
    std::size_t reached = 0;
    for (const NestStorage& node : rest) {
      if (node.component != memory) continue;
      const auto place = std::find_if(masks.begin(), masks.end(), [&](TensorMask mask) {
        return mask >> bound_.local_tensor[node.tensor.index()] & 1;
      });
      if (place == masks.end()) continue;
      const auto group = static_cast<std::size_t>(place - masks.begin());
      if (group < reached) return false;
      reached = group;
    }
    return true;
  }

  bool is_copy() const { return problem_.workload[einsum_].is_copy_operation; }
  TensorMask all_tensors() const { return (TensorMask{1} << bound_.tensors.size()) - 1; }

  const BoundProblem& problem_;
  EinsumId einsum_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  const std::size_t most_;
  std::vector<StorageChoice>& out_;
  std::vector<ComponentId> memories_;
  std::vector<TensorMask> held_;
};

}  // namespace

std::vector<StorageChoice> storage_choices(const BoundProblem& problem, EinsumId einsum,
                                           std::size_t most) {
  std::vector<StorageChoice> choices;
  for (const BoundCompute& compute : problem[einsum].computes)
    ChoiceWalk(problem, einsum, compute, most, choices).run();
  return choices;
}

}  // namespace sluice::oracle
