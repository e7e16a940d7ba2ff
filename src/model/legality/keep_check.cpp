#include <algorithm>
#include <string>
#include <utility>

#include "model/tree/finish_nests.h"
#include "model/tree/flatten.h"
#include "model/tree/lookups.h"
#include "sluice/model/keep_rules.h"

namespace sluice {
namespace {

/// Compares what the memories hold for one Einsum with the architecture's `keep` rules.
class KeepChecker {
 public:
  KeepChecker(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
              ViolationReport& report)
      : problem_(problem),
        tree_(tree),
        nest_(nest),
        einsum_(problem[nest.einsum]),
        report_(report),
        held_(problem.arch.components.size(), 0) {
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
      held_[tree.storages[s].component.index()] |= TensorMask{1} << tree.storages[s].tensor;
  }

  void check() {
    for (ComponentId component : nest_.compute->path) {
      if (!problem_.arch[component].holds_tensors()) continue;
      const auto sets = keep_sets(problem_, nest_.einsum, component, held_);
      if (!sets) continue;  // bind() has evaluated these expressions
      const TensorMask held = held_[component.index()];
      report(component, missing(sets->must & ~held, component), true);
      report(component, held & ~(sets->must | sets->may), false);
      check_back(component);
    }
  }

 private:
  const NestStorage* backing(std::size_t tensor) const {
    return backing_of(problem_, tree_, nest_, einsum_.tensors[tensor]);
  }

  /// A copy has no storage below its backing nodes: a memory or toll further in need not hold its
  /// tensors. What is backed further in than a toll does not pass it.
  TensorMask missing(TensorMask tensors, ComponentId component) const {
    const bool is_copy = problem_.workload[nest_.einsum].is_copy_operation;
    const bool is_toll = problem_.arch[component].is_toll();
    if (!is_copy && !is_toll) return tensors;
    const std::vector<int>& depth = nest_.compute->depth;
    for (std::size_t t = 0; t < einsum_.tensors.size(); ++t) {
      const NestStorage* storage = backing(t);
      if (!storage) continue;
      const bool is_backed_above = depth[storage->component.index()] <= depth[component.index()];
      if (is_backed_above ? is_copy : is_toll) tensors &= ~(TensorMask{1} << t);
    }
    return tensors;
  }

  void report(ComponentId component, TensorMask tensors, bool must) {
    if (tensors == 0) return;
    std::vector<TensorId> list;
    for (std::size_t t = 0; t < einsum_.tensors.size(); ++t)
      if ((tensors >> t) & 1) list.push_back(einsum_.tensors[t]);
    Violation& violation = report_.add(
        must ? ViolationKind::kMissingStorage : ViolationKind::kForbiddenStorage, nest_.node,
        report_.name(component) + (must ? " must" : " may not") + " keep " + report_.names(list) +
            " for the Einsum " + report_.name(nest_.einsum) + ", and the mapping does" +
            (must ? " not." : "."),
        nest_.einsum);
    violation.component = component;
    violation.tensors = std::move(list);
  }

  /// Whether a memory further out than one whose `back` names a tensor may be its backing one all
  /// the same: its own `keep` or `back` names it, too.
  bool may_back_further_out(std::size_t tensor, ComponentId memory, ComponentId named) const {
    const std::vector<int>& depth = nest_.compute->depth;
    return depth[memory.index()] < depth[named.index()] &&
           ((einsum_.components[memory.index()].forbidden >> tensor) & 1) == 0;
  }

  void check_back(ComponentId component) {
    const Memory* memory = std::get_if<Memory>(&problem_.arch[component].kind);
    if (!memory || !memory->tensors.back) return;
    const KeepRule& rule = einsum_.components[component.index()].back;
    if (rule.table.empty() || !rule.depends_on.empty()) return;
    for (std::size_t t = 0; t < einsum_.tensors.size(); ++t) {
      const NestStorage* storage = backing(t);
      if (!((rule.table[0] >> t) & 1) || !storage || storage->component == component) continue;
      if (may_back_further_out(t, storage->component, component)) continue;
      Violation& violation = report_.add(
          ViolationKind::kMissingStorage, tree_.entries[storage->entry].node,
          report_.name(einsum_.tensors[t]) + " must be backed by " + report_.name(component) +
              " and is backed by " + report_.name(storage->component) + ".",
          nest_.einsum);
      violation.component = component;
      violation.tensors = {einsum_.tensors[t]};
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundEinsum& einsum_;
  ViolationReport& report_;
  std::vector<TensorMask> held_;
};

}  // namespace

std::vector<Violation> keep_violations(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport other(problem, mapping), report(problem, mapping);
  FlatTree tree = flatten(problem, mapping, other);
  finish_nests(problem, tree, other);
  for (const Nest& nest : tree.nests)
    if (nest.compute) KeepChecker(problem, tree, nest, report).check();
  return std::move(report.violations());
}

std::vector<UnheldInput> unheld_inputs(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport report(problem, mapping);
  const FlatTree tree = flatten(problem, mapping, report);
  std::vector<UnheldInput> unheld;
  for (const Nest& nest : tree.nests) {
    const BoundEinsum& einsum = problem[nest.einsum];
    for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree.storages[s];
      const TensorId tensor = einsum.tensors[static_cast<std::size_t>(storage.tensor)];
      const bool is_known = std::any_of(unheld.begin(), unheld.end(), [&](const UnheldInput& own) {
        return own.tensor == tensor;
      });
      if (is_known || !tree.entries[storage.entry].backing || problem.roles.is_made(tensor))
        continue;
      const auto held =
          std::find_if(einsum.held.begin(), einsum.held.end(),
                       [&](const BoundAccess& own) { return own.tensor == storage.tensor; });
      const BoundComponent& memory = einsum.components[storage.component.index()];
      double bits = memory.bits_per_value[static_cast<std::size_t>(storage.tensor)];
      for (const BoundIndex& index : held->index) bits *= static_cast<double>(index.whole);
      if (bits > memory.size_bits) unheld.push_back({tensor, storage.component, bits});
    }
  }
  return unheld;
}

}  // namespace sluice
