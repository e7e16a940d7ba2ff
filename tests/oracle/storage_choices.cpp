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
             std::vector<StorageChoice>& out)
      : problem_(problem), einsum_(einsum), bound_(problem[einsum]), compute_(compute), out_(out) {
    for (ComponentId c : compute.path) {
      const Component& component = problem.arch[c];
      if (!component.holds_tensors() || !bound_.components[c.index()].enabled) continue;
      SLUICE_CHECK(component.is_memory(), "the referee knows no tolls");
      const TensorPolicy& policy = std::get<Memory>(component.kind).tensors;
      SLUICE_CHECK(policy.force_memory_hierarchy_order && policy.tensor_order_options.empty(),
                   "the referee knows no free or forced storage orders");
      memories_.push_back(c);
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
    if (is_copy()) may &= ~seen;  // a copy reuses nothing: a second place for a tensor is useless
    for (TensorMask subset = may;; subset = (subset - 1) & may) {
      held_[memory.index()] = sets->must | subset;
      choose(level + 1, seen | sets->must | subset);
      if (subset == 0) break;
    }
    held_[memory.index()] = 0;
  }

  /// Splits the chosen nodes into the top ones and the rest, and orders the rest in every legal
  /// way.
  void order_nodes() {
    StorageChoice choice;
    choice.compute = &compute_;
    std::vector<std::vector<NestStorage>> by_memory;
    TensorMask seen = 0;
    for (ComponentId memory : memories_) {
      std::vector<NestStorage> nodes;
      for (std::size_t i = 0; i < bound_.tensors.size(); ++i) {
        const TensorMask bit = TensorMask{1} << i;
        if (!(held_[memory.index()] & bit)) continue;
        NestStorage node;
        node.tensor = bound_.tensors[i];
        node.component = memory;
        node.backing = !(seen & bit);
        node.persistent = node.backing && problem_.workload[node.tensor].persistent;
        node.top = node.persistent || memory == memories_.front();
        (node.top ? choice.top : nodes).push_back(node);
      }
      seen |= held_[memory.index()];
      if (!nodes.empty()) by_memory.push_back(nodes);
    }
    permute(choice, by_memory, 0);
  }

  void permute(StorageChoice& choice, std::vector<std::vector<NestStorage>>& by_memory,
               std::size_t level) {
    if (level == by_memory.size()) {
      emit(choice);
      return;
    }
    std::vector<NestStorage> nodes = by_memory[level];
    const auto ascending = [](const NestStorage& a, const NestStorage& b) {
      return a.tensor < b.tensor;
    };
    std::sort(nodes.begin(), nodes.end(), ascending);
    const std::size_t length = choice.rest.size();
    do {
      choice.rest.insert(choice.rest.end(), nodes.begin(), nodes.end());
      permute(choice, by_memory, level + 1);
      choice.rest.resize(length);
    } while (std::next_permutation(nodes.begin(), nodes.end(), ascending));
  }

  void emit(const StorageChoice& choice) {
    StorageChoice copy = choice;
    if (is_copy()) {  // what stands below the last backing node of a copy moves nothing: left out
      while (!copy.rest.empty() && !copy.rest.back().backing) copy.rest.pop_back();
    }
    out_.push_back(std::move(copy));
  }

  bool is_copy() const { return problem_.workload[einsum_].is_copy_operation; }
  TensorMask all_tensors() const { return (TensorMask{1} << bound_.tensors.size()) - 1; }

  const BoundProblem& problem_;
  EinsumId einsum_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  std::vector<StorageChoice>& out_;
  std::vector<ComponentId> memories_;
  std::vector<TensorMask> held_;
};

}  // namespace

std::vector<StorageChoice> storage_choices(const BoundProblem& problem, EinsumId einsum) {
  std::vector<StorageChoice> choices;
  for (const BoundCompute& compute : problem[einsum].computes)
    ChoiceWalk(problem, einsum, compute, choices).run();
  return choices;
}

}  // namespace sluice::oracle
