#include "group.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "mapper/common/contains.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/common/storage_wishes.h"
#include "model/bind/operand_costs.h"
#include "sluice/support/error.h"

namespace sluice::compound {
namespace {

/// Finds which variables of the group's Einsums walk the same rank.
class ClassFinder {
 public:
  ClassFinder(const Workload& workload, const Group& group) : workload_(workload), group_(group) {
    for (std::size_t e = 0; e < group.size(); ++e)
      for (const VariableRange& range : workload[group.einsum(e)].iteration_space)
        members_.push_back({e, range.variable, range.size});
    leader_.resize(members_.size());
    std::iota(leader_.begin(), leader_.end(), 0);
    join_through_tensors();
  }

  std::vector<LoopClass> classes() {
    std::vector<LoopClass> result;
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (find(m) == m)
        if (auto found = make_class(m)) result.push_back(std::move(*found));
    return result;
  }

 private:
  struct Member {
    std::size_t einsum;
    RankVariableId variable;
    std::int64_t size;
  };

  std::size_t find(std::size_t m) {
    while (leader_[m] != m) m = leader_[m] = leader_[leader_[m]];
    return m;
  }

  std::size_t member(std::size_t einsum, RankVariableId variable) const {
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (members_[m].einsum == einsum && members_[m].variable == variable) return m;
    fail_internal_check("member", __FILE__, __LINE__, "a variable that its Einsum does not have");
  }

  void join_through_tensors() {
    std::map<std::pair<TensorId, std::size_t>, std::size_t> first_of;  // of a tensor's rank
    for (std::size_t e = 0; e < group_.size(); ++e)
      for (const TensorAccess& access : workload_[group_.einsum(e)].accesses)
        for (std::size_t r = 0; r < access.projection.size(); ++r) {
          if (!access.projection[r].is_plain_variable()) continue;
          const std::size_t m = find(member(e, access.projection[r].terms[0].variable));
          const auto [at, is_new] = first_of.try_emplace({access.tensor, r}, m);
          if (!is_new) leader_[std::max(m, find(at->second))] = std::min(m, find(at->second));
        }
  }

  std::optional<LoopClass> make_class(std::size_t leader) {
    LoopClass result;
    result.size = members_[leader].size;
    result.variable.resize(group_.size());
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (find(m) != leader) continue;
      const Member& member = members_[m];
      if (result.variable[member.einsum] || member.size != result.size) return std::nullopt;
      result.variable[member.einsum] = member.variable;
      if (!contains(result.variables, member.variable)) result.variables.push_back(member.variable);
    }
    if (result.size == 1 || !order_variables(&result)) return std::nullopt;
    find_uses(&result);
    return result;
  }

  /// Every Einsum must take its own variable of the class: the first one listed that it uses.
  bool order_variables(LoopClass* found) const {
    std::vector<RankVariableId>& list = found->variables;
    std::sort(list.begin(), list.end());
    do {
      bool fits = true;
      for (std::size_t e = 0; fits && e < group_.size(); ++e) {
        const auto first = std::find_if(list.begin(), list.end(), [&](RankVariableId v) {
          return uses_variable(workload_[group_.einsum(e)], v);
        });
        fits = found->variable[e] ? first != list.end() && *first == *found->variable[e]
                                  : first == list.end();
      }
      if (fits) return true;
    } while (list.size() <= kMostNames && std::next_permutation(list.begin(), list.end()));
    return false;
  }

  void find_uses(LoopClass* found) const {
    found->temporal = found->spatial = true;
    for (const auto& variable : found->variable) found->spatial &= variable.has_value();
    for (std::size_t e = 0; e < group_.size(); ++e)
      for (const TensorAccess& access : workload_[group_.einsum(e)].accesses) {
        if (!contains(group_.internal, access.tensor)) continue;
        if (found->variable[e] && relevance(access, *found->variable[e]) == Relevance::kRelevant)
          continue;
        found->temporal = false;
        if (access.is_output && found->variable[e])
          found->reduced.push_back(access.tensor);
        else if (workload_[group_.einsum(e)].is_copy_operation ||
                 !is_reduced_by_maker(*found, access.tensor))
          found->spatial = false;
      }
  }

  /// A reader's tensor without the class: its maker must have summed over the class.
  bool is_reduced_by_maker(const LoopClass& found, TensorId tensor) const {
    for (std::size_t e = 0; e < group_.size(); ++e) {
      const TensorAccess& output = workload_[group_.einsum(e)].output();
      if (output.tensor == tensor)
        return found.variable[e] && relevance(output, *found.variable[e]) == Relevance::kIrrelevant;
    }
    return false;
  }

  static constexpr std::size_t kMostNames = 5;  ///< orders of more are not looked at
  const Workload& workload_;
  const Group& group_;
  std::vector<Member> members_;
  std::vector<std::size_t> leader_;
};

/// Whether the outermost memory may (must) keep a tensor for an Einsum: constraints count more than
/// its rules.
struct OutermostKeep {
  bool may = false, must = false;
};

OutermostKeep outermost_keep(const BoundProblem& problem, const Constraints& constraints,
                             EinsumId einsum, TensorId tensor) {
  const std::vector<TensorMask> nothing(problem.arch.components.size(), 0);
  const ComponentId outermost = outermost_memory(problem, einsum, 0);
  KeepSets sets = *keep_sets(problem, einsum, outermost, nothing);
  storage_wishes(constraints, problem[einsum], outermost).apply_to(&sets);
  const int t = problem[einsum].local_tensor[tensor.index()];
  const bool is_elsewhere =
      std::any_of(constraints.fusion.begin(), constraints.fusion.end(),
                  [&](const FusionConstraint& c) { return c.tensor == tensor && c.fused; });
  return {((sets.must | sets.may) >> t & 1) != 0, (sets.must >> t & 1) != 0 && !is_elsewhere};
}

bool outermost_agrees(const BoundProblem& problem, const Constraints& constraints,
                      const Group& group) {
  for (std::size_t e = 0; e < group.size(); ++e)
    for (TensorId tensor : problem[group.einsum(e)].tensors) {
      const OutermostKeep keep = outermost_keep(problem, constraints, group.einsum(e), tensor);
      if (group.is_internal(tensor) ? keep.must : !keep.may) return false;
    }
  return true;
}

std::optional<ComponentId> first_memory(const BoundProblem& problem, const BoundCompute& compute) {
  for (ComponentId id : compute.path)
    if (problem.arch[id].is_memory()) return id;
  return std::nullopt;
}

/// Whether an Einsum uses two tensors of which one is a copy of the other, or both of a third.
bool uses_copied_twice(const BoundProblem& problem, EinsumId einsum) {
  std::vector<std::size_t> source(problem.workload.tensors.size());
  std::iota(source.begin(), source.end(), 0);
  for (const Einsum& copy : problem.workload.einsums) {
    if (!copy.is_copy_operation) continue;
    const std::size_t from = source[copy.accesses.front().tensor.index()];
    const std::size_t to = source[copy.output().tensor.index()];
    std::replace(source.begin(), source.end(), to, from);
  }
  std::vector<std::size_t> used;
  for (TensorId tensor : problem[einsum].tensors) {
    if (contains(used, source[tensor.index()])) return true;
    used.push_back(source[tensor.index()]);
  }
  return false;
}

/// Whether a group has two users of a tensor with several makers, one of them a maker.
bool meets_maker_of_part(const BoundProblem& problem, TensorId tensor, const Group& group) {
  if (!problem.roles.has_several_makers(tensor)) return false;
  const std::vector<EinsumId>& makers = problem.roles.makers[tensor.index()];
  const std::vector<EinsumId> users = problem.roles.users(tensor);
  const auto inside = [&](EinsumId e) { return group.has(e); };
  return std::any_of(makers.begin(), makers.end(), inside) &&
         std::count_if(users.begin(), users.end(), inside) > 1;
}

}  // namespace

bool Group::is_internal(TensorId tensor) const { return contains(internal, tensor); }

std::optional<Group> make_group(const BoundProblem& problem, const Constraints& constraints,
                                std::size_t first, std::size_t end) {
  Group group;
  group.first = first;
  group.end = end;
  const auto inside = [&](EinsumId e) { return group.has(e); };
  for (std::size_t e = first; e < end; ++e)
    for (TensorId tensor : problem[EinsumId(e)].tensors) {
      if (contains(group.internal, tensor) || contains(group.external, tensor)) continue;
      const auto producer = problem.roles.sole_maker(tensor);
      const auto& consumers = problem.roles.consumers[tensor.index()];
      if (meets_maker_of_part(problem, tensor, group)) return std::nullopt;
      const bool made = producer && inside(*producer);
      const auto outside =
          std::count_if(consumers.begin(), consumers.end(), [&](EinsumId c) { return !inside(c); });
      const auto n_readers = static_cast<std::ptrdiff_t>(consumers.size()) - outside;
      // A state reads what it writes itself: that alone is no exchange.
      const bool own = made && n_readers == 1 && contains(consumers, *producer);
      const bool internal = made && n_readers > 0 && outside == 0 && (!own || end - first > 1);
      if (made && n_readers > 0 && outside > 0 && (!own || end - first > 1)) return std::nullopt;
      (internal ? group.internal : group.external).push_back(tensor);
    }
  if (!outermost_agrees(problem, constraints, group)) return std::nullopt;
  group.classes = ClassFinder(problem.workload, group).classes();
  return group;
}

Group block_of(const BoundProblem& problem, const Group& outer, std::size_t first,
               std::size_t end) {
  Group block;
  block.first = outer.first + first;
  block.end = outer.first + end;
  const auto inside = [&](EinsumId e) { return block.has(e); };
  for (std::size_t e = 0; e < block.size(); ++e)
    for (TensorId tensor : problem[block.einsum(e)].tensors) {
      if (contains(block.internal, tensor) || contains(block.external, tensor)) continue;
      const auto producer = problem.roles.sole_maker(tensor);
      const auto& consumers = problem.roles.consumers[tensor.index()];
      const bool internal = outer.is_internal(tensor) && producer && inside(*producer) &&
                            std::all_of(consumers.begin(), consumers.end(), inside);
      (internal ? block.internal : block.external).push_back(tensor);
    }
  block.classes = ClassFinder(problem.workload, block).classes();
  return block;
}

ComponentId outermost_memory(const BoundProblem& problem, EinsumId einsum, std::uint32_t compute) {
  const auto memory = first_memory(problem, problem[einsum].computes[compute]);
  SLUICE_CHECK(memory.has_value(), "a compute below no memory");
  return *memory;
}

std::optional<ComponentId> compute_elsewhere(const BoundProblem& problem) {
  std::optional<ComponentId> outermost;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes) {
      const std::optional<ComponentId> memory = first_memory(problem, compute);
      if (!outermost) outermost = memory;
      if (!memory || memory != outermost || !einsum.components[memory->index()].enabled)
        return compute.component;
    }
  return std::nullopt;
}

std::optional<TensorId> tensor_elsewhere(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const TensorId tensor : einsum.tensors) {
      if (problem.roles.is_intermediate(tensor) || einsum.computes.empty()) continue;
      const ComponentId outermost = outermost_memory(problem, einsum.einsum, 0);
      if (!hold_of(problem, einsum.einsum, outermost, tensor).may) return tensor;
    }
  return std::nullopt;
}

BoundProblem slice(const BoundProblem& problem, const Group& group) {
  std::vector<EinsumId> einsums;
  for (std::size_t e = group.first; e < group.end; ++e) einsums.emplace_back(e);
  return part_of_problem(problem, einsums);
}

BoundProblem slice_below_frames(const BoundProblem& problem, EinsumId einsum) {
  BoundProblem result = part_of_problem(problem, {einsum});
  if (uses_copied_twice(problem, einsum))
    for (BoundComponent& component : result.einsums.front().components)
      component.size_bits = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace sluice::compound
