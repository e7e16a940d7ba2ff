#include "model/legality/concurrent_splits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "model/bind/recurrences.h"
#include "model/legality/windows.h"
#include "model/tree/lookups.h"

namespace sluice {
namespace {

/// The rules of one split.
std::string a_split(const SplitNode& split) {
  return split.kind == SplitKind::kPipeline ? "a pipelined split" : "a parallel split";
}

/// What the rules of every split ask of the whole mapping.
class WholeMapping {
 public:
  WholeMapping(const BoundProblem& problem, const FlatTree& tree) : problem_(problem), tree_(tree) {
    for (std::uint32_t e = 0; e < tree.entries.size(); ++e)
      if (tree.entries[e].backing && tree.entries[e].last_user >= 0)
        backings_.emplace_back(tree.entries[e].tensor, e);
    std::sort(backings_.begin(), backings_.end());
  }

  std::vector<const TreeEntry*> backings_of(TensorId tensor) const {
    std::vector<const TreeEntry*> found;
    for (auto backing = std::lower_bound(backings_.begin(), backings_.end(), std::pair(tensor, 0U));
         backing != backings_.end() && backing->first == tensor; ++backing)
      found.push_back(&tree_.entries[backing->second]);
    return found;
  }

  /// Whether all Einsums touch the same values of each tensor, if through windows, and share no
  /// loop that moves one.
  bool rows_match() {
    if (rows_match_) return *rows_match_;
    rows_match_ = true;
    for (std::size_t t = 0; t < problem_.workload.tensors.size() && *rows_match_; ++t)
      rows_match_ =
          touched_alike(problem_, TensorId(t)) && !moves_window(problem_, tree_, TensorId(t));
    return *rows_match_;
  }

 private:
  const BoundProblem& problem_;
  const FlatTree& tree_;
  std::vector<std::pair<TensorId, std::uint32_t>> backings_;  ///< entries, by tensor
  std::optional<bool> rows_match_;
};

class ConcurrencyChecker {
 public:
  ConcurrencyChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                     WholeMapping& whole, const ConcurrentSplit& split)
      : problem_(problem), tree_(tree), report_(report), whole_(whole), split_(split) {}

  void check() {
    for (TensorId tensor : tensors()) {
      check_dependences(tensor);
      check_backings(tensor);
    }
    check_copies();
    check_collectives();
    check_windows();
    if (problem_.holds_unlike_boxes && !whole_.rows_match())
      add(ViolationKind::kUnsupportedNode,
          "The model cannot price " + a_split(*split_.split) +
              " in a workload whose Einsums touch different parts of a tensor (borders, windows, "
              "slices of a state).");
  }

 private:
  Violation& add(ViolationKind kind, const std::string& message) {
    return report_.add(kind, split_.node, message);
  }

  /// Those of its Einsums, ascending.
  std::vector<TensorId> tensors() const {
    std::vector<TensorId> found;
    for (int place = split_.begin; place < split_.end; ++place) {
      const EinsumId einsum = tree_.nests[static_cast<std::size_t>(place)].einsum;
      const std::vector<TensorId>& own = problem_[einsum].tensors;
      found.insert(found.end(), own.begin(), own.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// The child of the split that an Einsum stands in; -1 outside.
  int stage_of(EinsumId einsum) const {
    const int place = tree_.place_of[einsum.index()];
    return place >= 0 && split_.has(place) ? split_.stage_of(place) : -1;
  }

  void check_dependences(TensorId tensor) {
    for (EinsumId maker : problem_.roles.makers[tensor.index()]) check_dependences(tensor, maker);
  }

  void check_dependences(TensorId tensor, EinsumId maker) {
    const int made = stage_of(maker);
    if (made < 0) return;
    for (EinsumId reader : problem_.roles.consumers[tensor.index()]) {
      const int read = stage_of(reader);
      if (read < 0 || read == made || reads_other_part(problem_, tensor, maker, reader)) continue;
      const std::string pair = "the Einsum " + report_.name(reader) + " reads " +
                               report_.name(tensor) + ", which the Einsum " + report_.name(maker) +
                               " makes in another child.";
      if (split_.split->kind == SplitKind::kParallel) {
        // Of parts, a reader may want those of earlier steps alone: that has no price.
        add(problem_.roles.has_several_makers(tensor) ? ViolationKind::kUnsupportedNode
                                                      : ViolationKind::kDependency,
            "The children of a parallel split run at the same time; " + pair)
            .tensors = {tensor};
      } else if (read < made && !reads_initial_slice(problem_.workload, tensor, maker, reader)) {
        const bool in_time = is_made_in_time(tensor, maker, reader);
        add(in_time ? ViolationKind::kUnsupportedNode : ViolationKind::kDependency,
            (in_time
                 ? "The model cannot price a state that goes from child to child of a pipelined "
                   "split and back: "
                 : "The children of a pipelined split depend on each other in a cycle: ") +
                pair)
            .tensors = {tensor};
      } else if (!problem_.roles.has_several_makers(tensor) &&
                 is_of_an_earlier_step(tensor, maker, reader)) {
        add(ViolationKind::kUnsupportedNode,
            "The model cannot price a state that one child of a pipelined split hands to "
            "another: " +
                pair)
            .tensors = {tensor};
      }
    }
  }

  /// Whether a later child has made a state before an earlier one reads it in the recurrence's next
  /// step: the pipeline runs empty in each of them, or takes enough of its own steps meanwhile.
  bool is_made_in_time(TensorId tensor, EinsumId maker, EinsumId reader) const {
    const auto variable = step_variable(problem_.workload[maker].output(),
                                        *find_access(problem_.workload[reader], tensor));
    if (!variable) return false;
    const int local = problem_[reader].local_variable[variable->index()];
    const Nest& nest = tree_.nests[static_cast<std::size_t>(tree_.place_of[reader.index()])];
    double meanwhile = 0;
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      const bool own =
          std::find(split_.steps.begin(), split_.steps.end(), loop.node) != split_.steps.end();
      if (loop.variable == local)
        meanwhile = own ? 1 : std::numeric_limits<double>::infinity();
      else if (own)
        meanwhile *= static_cast<double>(tree_.tree_loops[loop.tree_loop].trips);
    }
    return meanwhile > stage_of(maker) - stage_of(reader);
  }

  bool is_of_an_earlier_step(TensorId tensor, EinsumId maker, EinsumId reader) const {
    const TensorAccess& written = problem_.workload[maker].output();
    for (const TensorAccess& read : problem_.workload[reader].accesses) {
      if (read.tensor != tensor || read.is_output) continue;
      for (std::size_t r = 0; r < read.projection.size(); ++r)
        if (read.projection[r].terms.size() < 2 &&
            read.projection[r].constant < written.projection[r].constant)
          return true;
    }
    return false;
  }

  /// What is reserved in several branches, or brought by a collective, must not reach out of the
  /// split, nor stand in several of its children.
  void check_backings(TensorId tensor) {
    if (forward_of(tree_, tensor)) return;
    const std::vector<const TreeEntry*> backing = whole_.backings_of(tensor);
    const auto below = [&](const TreeEntry* entry) {
      return entry->concurrency > split_.depth && split_.has(entry->first_user);
    };
    const bool any = std::any_of(backing.begin(), backing.end(), below);
    const bool moved = mover_of(tree_, tensor) != nullptr;
    if (!any || (backing.size() < 2 && !moved)) return;
    add(ViolationKind::kUnsupportedNode,
        moved ? "The model cannot price a collective that brings " + report_.name(tensor) +
                    " into, out of or between children of " + a_split(*split_.split) + "."
              : "The model cannot price " + report_.name(tensor) +
                    " backed in several branches, some of them below " + a_split(*split_.split) +
                    "; back it above the split.")
        .tensors = {tensor};
  }

  void check_copies() {
    for (int place = split_.begin; place < split_.end; ++place) {
      const EinsumId einsum = tree_.nests[static_cast<std::size_t>(place)].einsum;
      if (problem_.workload[einsum].is_copy_operation)
        add(ViolationKind::kUnsupportedNode, "The model cannot price the copy " +
                                                 report_.name(einsum) + " below " +
                                                 a_split(*split_.split) + ".");
    }
  }

  /// A collective belongs to the child before it, and runs beside the others, or on another step.
  void check_collectives() {
    if (!split_.runs_side_by_side()) return;
    auto next =
        std::lower_bound(tree_.collectives.begin(), tree_.collectives.end(), split_.begin,
                         [](const FlatCollective& flat, int place) { return flat.place < place; });
    for (; next != tree_.collectives.end() && next->place <= split_.end; ++next) {
      const FlatCollective& flat = *next;
      if (flat.split_begin != split_.begin || flat.split_end != split_.end) continue;
      const TensorId tensor = flat.collective->tensor;
      const std::size_t stage = static_cast<std::size_t>(split_.stage_of(flat.place - 1));
      bool used = false;
      for (int place = split_.stages[stage]; place < split_.stage_end(stage); ++place) {
        const EinsumId einsum = tree_.nests[static_cast<std::size_t>(place)].einsum;
        used |= problem_[einsum].local_tensor[tensor.index()] >= 0;
      }
      if (used) continue;
      report_
          .add(ViolationKind::kCollective, flat.node,
               "The " + collective_name(flat.collective->type) + " of " + report_.name(tensor) +
                   " stands in " + a_split(*split_.split) + " behind a child that does not use " +
                   report_.name(tensor) +
                   ", and so runs beside the one that makes it, or on another step; put it right "
                   "behind the child that makes it.")
          .tensors = {tensor};
    }
  }

  /// Rows that stay from step to step would have to be in several steps' tiles.
  void check_windows() {
    for (int place = split_.begin; place < split_.end; ++place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      const BoundEinsum& einsum = problem_[nest.einsum];
      for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
        const NestStorage& storage = tree_.storages[s];
        if (std::find(split_.held.begin(), split_.held.end(), storage.entry) == split_.held.end())
          continue;
        for (int l = 0; l < storage.loops_above; ++l) {
          const NestLoop& loop = tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
          const bool step =
              std::find(split_.steps.begin(), split_.steps.end(), loop.node) != split_.steps.end();
          if (!step || loop.trips == 1 ||
              einsum.held_relevance[static_cast<std::size_t>(storage.tensor)]
                                   [static_cast<std::size_t>(loop.variable)] != Relevance::kPartial)
            continue;
          add(ViolationKind::kUnsupportedNode,
              "The model cannot price windows of " +
                  report_.name(tree_.entries[storage.entry].tensor) +
                  " that the steps of a pipelined split share; keep it above their loop.");
          return;
        }
      }
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  WholeMapping& whole_;
  const ConcurrentSplit& split_;
};

}  // namespace

void check_concurrent(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  if (tree.concurrent.empty()) return;
  WholeMapping whole(problem, tree);
  for (const ConcurrentSplit& split : tree.concurrent)
    ConcurrencyChecker(problem, tree, report, whole, split).check();
}

}  // namespace sluice
