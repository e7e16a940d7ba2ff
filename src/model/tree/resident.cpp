#include "model/tree/resident.h"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

bool is_marked(const FlatTree& tree, const NestStorage& storage) {
  return std::get<StorageNode>(tree.entries[storage.entry].node->kind).resident;
}

/// The innermost pipelined split of several steps above an entry, seen from a compute below it.
const ConcurrentSplit* pipeline_above(const FlatTree& tree, const TreeEntry& entry, int place) {
  const ConcurrentSplit* found = nullptr;
  for (const ConcurrentSplit& split : tree.concurrent)
    if (split.split->kind == SplitKind::kPipeline && split.n_steps > 1 && split.has(place) &&
        entry.concurrency > split.depth)
      found = &split;
  return found;
}

bool is_step(const ConcurrentSplit& split, const NestLoop& loop) {
  return std::find(split.steps.begin(), split.steps.end(), loop.node) != split.steps.end();
}

/// The rules of one node, as one Einsum sees it.
class ResidentChecker {
 public:
  ResidentChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                  const Nest& nest, const NestStorage& storage, const ConcurrentSplit& split)
      : problem_(problem),
        tree_(tree),
        report_(report),
        nest_(nest),
        storage_(storage),
        split_(split),
        entry_(tree.entries[storage.entry]),
        place_(tree.place(nest)) {}

  void check() const {
    check_steps();
    check_maker();
    check_place();
    for (const PathNetwork& network : nest_.compute->networks)
      if (std::get<Network>(problem_.arch[network.network].kind).repeated_values ==
          RepeatedValues::kFree)
        add(ViolationKind::kUnsupportedNode, "the model cannot price that behind " +
                                                 report_.name(network.network) +
                                                 " with repeated_values: free.");
  }

 private:
  void add(ViolationKind kind, const std::string& why) const {
    Violation& violation = report_.add(kind, entry_.node,
                                       report_.name(entry_.tensor) + " is resident in " +
                                           report_.name(entry_.component) + " for the Einsum " +
                                           report_.name(nest_.einsum) + ", but " + why,
                                       nest_.einsum);
    violation.tensors = {entry_.tensor};
    violation.component = entry_.component;
  }

  const std::string& variable_name(const NestLoop& loop) const {
    return report_.name(problem_.workload[nest_.einsum]
                            .iteration_space[static_cast<std::size_t>(loop.variable)]
                            .variable);
  }

  void check_steps() const {
    for (auto l = nest_.loops_begin; l < nest_.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      if (loop.trips == 1 || !is_step(split_, loop)) continue;
      if (problem_[nest_.einsum].relevance[static_cast<std::size_t>(
              storage_.tensor)][static_cast<std::size_t>(loop.variable)] != Relevance::kIrrelevant)
        add(ViolationKind::kDependency, "the step loop over " + variable_name(loop) +
                                            " indexes it: each step needs another tile.");
    }
  }

  void check_maker() const {
    for (EinsumId maker : problem_.roles.makers[entry_.tensor.index()]) {
      const int made = tree_.place_of[maker.index()];
      if (made >= 0 && split_.has(made) && split_.stage_of(made) == split_.stage_of(place_))
        add(ViolationKind::kDependency, "the Einsum " + report_.name(maker) +
                                            " makes it in the same child of the pipelined split.");
    }
  }

  void check_place() const {
    for (auto s = nest_.storages_begin; &tree_.storages[s] != &storage_; ++s) {
      const TreeEntry& outer = tree_.entries[tree_.storages[s].entry];
      const bool in_child = std::find(split_.held_above.begin(), split_.held_above.end(),
                                      tree_.storages[s].entry) == split_.held_above.end();
      if (outer.tensor == entry_.tensor && in_child && problem_.arch[outer.component].is_memory())
        add(ViolationKind::kDependency, report_.name(outer.component) +
                                            " above it in the same child of the pipelined split "
                                            "holds the tensor, too, and is filled in each step.");
    }
    for (int l = 0; l < storage_.loops_above; ++l) {
      const NestLoop& loop = tree_.loops[nest_.loops_begin + static_cast<std::uint32_t>(l)];
      const bool above = std::find(split_.loops_above.begin(), split_.loops_above.end(),
                                   loop.node) != split_.loops_above.end();
      if (loop.trips > 1 && !loop.spatial && !above)
        add(ViolationKind::kUnsupportedNode, "it takes effect below the loop over " +
                                                 variable_name(loop) +
                                                 " of the child; the model cannot price that.");
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const Nest& nest_;
  const NestStorage& storage_;
  const ConcurrentSplit& split_;
  const TreeEntry& entry_;
  int place_;
};

}  // namespace

void find_residents(FlatTree& tree) {
  if (tree.concurrent.empty()) return;
  for (const Nest& nest : tree.nests)
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      NestStorage& storage = tree.storages[s];
      TreeEntry& entry = tree.entries[storage.entry];
      if (!is_marked(tree, storage)) continue;
      const ConcurrentSplit* split = pipeline_above(tree, entry, tree.place(nest));
      if (!split) continue;
      stay(*split, tree.place(nest), entry);
      for (int l = 0; l < storage.loops_above; ++l) {
        if (!is_step(*split, tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)]))
          continue;
        if (storage.steps_end == 0) storage.steps_begin = l;
        storage.steps_end = l + 1;
      }
    }
}

void check_residents(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  if (tree.concurrent.empty()) return;
  for (const Nest& nest : tree.nests)
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree.storages[s];
      const TreeEntry& entry = tree.entries[storage.entry];
      if (!nest.compute || !is_marked(tree, storage) ||
          !problem.arch[storage.component].is_memory())
        continue;
      if (const ConcurrentSplit* split = pipeline_above(tree, entry, tree.place(nest)))
        ResidentChecker(problem, tree, report, nest, storage, *split).check();
    }
}

}  // namespace sluice
