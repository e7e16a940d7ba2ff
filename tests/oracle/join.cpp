#include "oracle/join.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "oracle/canonical_nest.h"
#include "oracle/recurrence.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

const NestLoop* as_loop(const NestNode& node) { return std::get_if<NestLoop>(&node); }
const NestStorage* as_storage(const NestNode& node) { return std::get_if<NestStorage>(&node); }

/// The loop as seen from a tensor: which of its ranks it moves, and how.
std::string loop_signature(const Einsum& einsum, TensorId tensor, const NestLoop& loop) {
  std::set<std::size_t> walked;
  for (const TensorAccess& access : einsum.accesses)
    for (std::size_t r = 0; access.tensor == tensor && r < access.projection.size(); ++r)
      if (access.projection[r].coefficient_of(loop.variable) != 0) walked.insert(r);
  std::string ranks;
  for (std::size_t r : walked) ranks += "r" + std::to_string(r);
  std::string text =
      ranks + "x" + std::to_string(loop.trips) + "t" + std::to_string(loop.tile_shape);
  if (loop.spatial)
    text += "@" + std::to_string(loop.component.index()) + "." + std::to_string(loop.dimension);
  return text + ";";
}

/// A nest cut at its loops: level k holds the storage nodes right above loop k.
struct Levels {
  std::vector<std::vector<NestStorage>> storages;  ///< one more than loops
  std::vector<NestLoop> loops;
};

Levels levels_of(const Pmapping& pmapping) {
  Levels levels;
  levels.storages.emplace_back();
  for (const NestNode& node : pmapping.nodes) {
    if (const NestStorage* storage = as_storage(node)) {
      levels.storages.back().push_back(*storage);
    } else {
      levels.loops.push_back(*as_loop(node));
      levels.storages.emplace_back();
    }
  }
  return levels;
}

/// The level of the first loop over the steps of the Einsum's cycle, one by one.
std::optional<std::size_t> steps_in(const BoundProblem& problem, const Pmapping& nest) {
  const auto variable = step_variable(problem.workload, nest.einsum);
  const std::vector<NestLoop> loops = levels_of(nest).loops;
  for (std::size_t l = 0; l < loops.size() && variable; ++l)
    if (loops[l].variable == *variable) return l;
  return std::nullopt;
}

/// Builds the tree of one full mapping.
class TreeBuilder {
 public:
  TreeBuilder(const BoundProblem& problem, const std::vector<const Pmapping*>& nests)
      : problem_(problem), nests_(nests) {
    for (const Cycle& cycle : cycles_of(problem.workload))
      cycles_.push_back({cycle, steps_in(problem, *nests[cycle.first.index()]).value_or(0)});
    loops_above_.assign(problem.workload.tensors.size(), 0);
    users_.resize(problem.workload.tensors.size());
    for (std::size_t e = 0; e < nests.size(); ++e) {
      levels_.push_back(levels_of(*nests[e]));
      for (const SharedTensor& shared : shared_tensors(problem, *nests[e])) {
        loops_above_[shared.tensor.index()] = shared.loops_above;
        users_[shared.tensor.index()].push_back(e);
      }
    }
  }

  std::optional<Mapping> build() {
    std::vector<std::size_t> all(nests_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Mapping mapping;
    append_top(mapping.nodes);
    append_group(mapping.nodes, all, 0);
    if (!coherent_) return std::nullopt;
    return mapping;
  }

 private:
  using Group = std::vector<std::size_t>;  ///< adjacent Einsums, ascending

  /// A tensor that lives under more than `level` loops spans the step from Einsum e to e + 1, or
  /// both are in one cycle: they share its steps, and what stands above them.
  bool joined(std::size_t e, std::size_t level) const {
    if (are_tied_by_steps(e, e + 1, level)) return true;
    for (std::size_t t = 0; t < users_.size(); ++t)
      if (!users_[t].empty() && loops_above_[t] > level && users_[t].front() <= e &&
          users_[t].back() > e)
        return true;
    return false;
  }

  std::vector<Group> runs_of(const Group& group, std::size_t level) const {
    std::vector<Group> runs;
    for (std::size_t e : group) {
      if (runs.empty() || !joined(e - 1, level)) runs.emplace_back();
      runs.back().push_back(e);
    }
    return runs;
  }

  void append_top(NodeList& out) {
    std::vector<NestStorage> top;
    for (const Levels& levels : levels_)
      for (const NestStorage& storage : levels.storages[0])
        if (storage.top && !contains(top, storage)) top.push_back(storage);
    std::stable_sort(top.begin(), top.end(), [](const NestStorage& a, const NestStorage& b) {
      return std::pair(a.component, a.tensor) < std::pair(b.component, b.tensor);
    });
    for (const NestStorage& storage : top) out.push_back(storage_node(storage));
  }

  static bool contains(const std::vector<NestStorage>& list, const NestStorage& storage) {
    return std::any_of(list.begin(), list.end(), [&](const NestStorage& s) {
      return s.tensor == storage.tensor && s.component == storage.component;
    });
  }

  /// The nests of `group` from `level` on; all loops outside are already written.
  void append_group(NodeList& out, const Group& group, std::size_t level) {
    const std::vector<Group> runs = runs_of(group, level);
    if (runs.size() == 1) {
      append_run(out, runs[0], level);
      return;
    }
    write_above_split(out, group, runs, level);
    if (level > 0) append_sliding(out, group, level);
    SplitNode split;
    for (const Group& run : runs) append_run(split.children.emplace_back(), run, level);
    out.push_back(Node{split});
  }

  /// Nodes of tensors that several runs use, and between them, in the order of each nest, private
  /// nodes that only one of them keeps from sinking. Backing nodes of one tensor are one, also
  /// where one run alone uses it. (Where nests want two orders, a private node sinks: the same
  /// price, in less room.)
  void write_above_split(NodeList& out, const Group& group, const std::vector<Group>& runs,
                         std::size_t level) {
    struct Above {
      NestStorage storage;
      std::size_t einsum;
    };
    std::vector<Above> above;
    for (std::size_t e : group) {
      const std::set<std::size_t> kept = kept_up(e, runs, level);
      std::vector<NestStorage>& storages = levels_[e].storages[level];
      std::vector<NestStorage> left;
      std::size_t next = 0;  // where the next one of this nest may stand
      for (std::size_t i = 0; i < storages.size(); ++i) {
        const bool spans = spans_runs(storages[i], runs);
        if (!spans && kept.count(i) == 0 && !storages[i].below_ports) {
          left.push_back(storages[i]);
          continue;
        }
        const auto known = std::find_if(above.begin(), above.end(), [&](const Above& a) {
          return storages[i].backing && a.storage.backing && a.storage.tensor == storages[i].tensor;
        });
        std::size_t place = static_cast<std::size_t>(known - above.begin());
        if (known == above.end()) {
          if (!spans) place = next;
          above.insert(above.begin() + static_cast<std::ptrdiff_t>(place), {storages[i], e});
        }
        next = std::max(next, place + 1);
      }
      storages = std::move(left);
    }
    for (const Above& node : above) {
      out.push_back(private_node(node.storage, node.einsum));
      if (node.storage.backing) written_.push_back(node.storage);
    }
  }

  /// Positions of private nodes that could sink but for a node of several runs below them, and of
  /// the nodes and tolls that they are filled through.
  std::set<std::size_t> kept_up(std::size_t e, const std::vector<Group>& runs,
                                std::size_t level) const {
    std::set<std::size_t> kept;
    if (level >= levels_[e].loops.size()) return kept;
    const std::vector<NestStorage>& storages = levels_[e].storages[level];
    bool spans_below = false;
    for (std::size_t i = storages.size(); i-- > 0;) {
      const NestStorage& storage = storages[i];
      if (spans_runs(storage, runs)) spans_below = true;
      if (storage.top || storage.backing || storage.toll || !spans_below) continue;
      if (!sinks_through(problem_.workload.einsums[e], storage, levels_[e].loops[level])) continue;
      kept.insert(i);
      for (std::size_t above = 0; above < i; ++above)
        if (!storages[above].top && storages[above].tensor == storage.tensor) kept.insert(above);
    }
    return kept;
  }

  /// A node that slides over the shared loop above the split must stand right below it, and the
  /// tolls that it is filled through above it.
  void append_sliding(NodeList& out, const Group& group, std::size_t level) {
    for (std::size_t e : group) {
      std::vector<NestStorage>& storages = levels_[e].storages[level];
      std::set<TensorId> sliding;
      for (const NestStorage& storage : storages)
        if (storage.sliding) sliding.insert(storage.tensor);
      const auto moves = [&](const NestStorage& storage) {
        return storage.sliding || (storage.toll && sliding.count(storage.tensor) > 0);
      };
      for (const NestStorage& storage : storages)
        if (moves(storage)) out.push_back(private_node(storage, e));
      std::erase_if(storages, moves);
    }
  }

  Node private_node(const NestStorage& storage, std::size_t e) const {
    Node node = storage_node(storage);
    if (!storage.backing) std::get<StorageNode>(node.kind).einsums = {nests_[e]->einsum};
    return node;
  }

  bool spans_runs(const NestStorage& storage, const std::vector<Group>& runs) const {
    if (storage.top || !storage.backing) return false;
    const Group& users = users_[storage.tensor.index()];
    int touched = 0;
    for (const Group& run : runs)
      touched += std::any_of(run.begin(), run.end(), [&](std::size_t e) {
        return std::find(users.begin(), users.end(), e) != users.end();
      });
    return touched > 1;
  }

  /// Einsums that share the loop at `level`, or a single one with all that is left of it.
  void append_run(NodeList& out, const Group& run, std::size_t level) {
    if (run.size() == 1) {
      append_alone(out, run[0], level);
      return;
    }
    if (!same_loop(run, level) || !tied_together(run, level) || !steps(run, level)) {
      coherent_ = false;
      return;
    }
    append_storages(out, run, level);
    const std::vector<RankVariableId> variables = variables_of(run, level);
    if (variables.empty()) {
      coherent_ = false;
      return;
    }
    out.push_back(loop_node(levels_[run[0]].loops[level], variables));
    append_group(out, run, level + 1);
  }

  /// The loop's variables in an order in which each Einsum's own one is the first that it uses.
  std::vector<RankVariableId> variables_of(const Group& run, std::size_t level) const {
    std::vector<RankVariableId> variables;
    for (std::size_t e : run) variables.push_back(levels_[e].loops[level].variable);
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    do {
      const bool fits = std::all_of(run.begin(), run.end(), [&](std::size_t e) {
        const Einsum& einsum = problem_.workload.einsums[e];
        const auto first = std::find_if(variables.begin(), variables.end(),
                                        [&](RankVariableId v) { return uses_variable(einsum, v); });
        return *first == levels_[e].loops[level].variable;
      });
      if (fits) return variables;
    } while (std::next_permutation(variables.begin(), variables.end()));
    return {};
  }

  void append_alone(NodeList& out, std::size_t e, std::size_t level) {
    const Levels& levels = levels_[e];
    for (std::size_t k = level; k < levels.storages.size(); ++k) {
      for (const NestStorage& storage : levels.storages[k])
        if (!storage.top && !contains(written_, storage)) out.push_back(storage_node(storage));
      if (k < levels.loops.size())
        out.push_back(loop_node(levels.loops[k], {levels.loops[k].variable}));
    }
    out.push_back(compute_node(*nests_[e]));
  }

  /// The storage nodes that stand right above a shared loop. Backing nodes of one tensor are one
  /// node; every other node serves its own Einsum only.
  void append_storages(NodeList& out, const Group& run, std::size_t level) {
    struct Entry {
      NestStorage storage;
      std::size_t einsum;
    };
    // Each nest keeps its order: what could sink there has a node under it that cannot.
    std::vector<Entry> entries;
    for (std::size_t e : run) {
      std::size_t next = 0;  // where the next one of this nest may stand
      for (const NestStorage& storage : in_order(e, level)) {
        if (storage.top) continue;
        const auto known = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
          return storage.backing && entry.storage.backing &&
                 entry.storage.tensor == storage.tensor &&
                 entry.storage.component == storage.component;
        });
        if (known != entries.end()) {
          next = std::max(next, static_cast<std::size_t>(known - entries.begin()) + 1);
          continue;
        }
        if (contains(written_, storage)) continue;
        if (storage.backing) written_.push_back(storage);
        entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(next), {storage, e});
        ++next;
      }
    }
    for (const Entry& entry : entries) out.push_back(private_node(entry.storage, entry.einsum));
  }

  /// The nodes of a nest right above a shared loop; those that slide over it last.
  std::vector<NestStorage> in_order(std::size_t e, std::size_t level) const {
    std::vector<NestStorage> storages = levels_[e].storages[level];
    std::stable_sort(
        storages.begin(), storages.end(),
        [](const NestStorage& a, const NestStorage& b) { return a.sliding < b.sliding; });
    return storages;
  }

  bool same_loop(const Group& run, std::size_t level) const {
    for (std::size_t e : run) {
      if (level >= levels_[e].loops.size()) return false;
      const NestLoop& a = levels_[run[0]].loops[level];
      const NestLoop& b = levels_[e].loops[level];
      if (a.trips != b.trips || a.tile_shape != b.tile_shape || a.spatial != b.spatial)
        return false;
      if (a.spatial && (a.component != b.component || a.dimension != b.dimension)) return false;
    }
    return true;
  }

  /// The level of the loop over the steps of a cycle that two Einsums are in, if they are in one.
  std::optional<std::size_t> level_of_steps(std::size_t e, std::size_t other) const {
    for (const auto& [cycle, level] : cycles_)
      if (cycle.first.index() <= e && other <= cycle.last.index()) return level;
    return std::nullopt;
  }

  bool are_tied_by_steps(std::size_t e, std::size_t other, std::size_t level) const {
    const auto steps = level_of_steps(std::min(e, other), std::max(e, other));
    return steps && level <= *steps;
  }

  /// Where Einsums of one cycle are in the run, and this is its loop: it goes from step to step.
  /// Others stand above it only where it stands above something that each of the Einsums exchanges.
  bool steps(const Group& run, std::size_t level) const {
    for (std::size_t i = 0; i + 1 < run.size(); ++i) {
      if (level_of_steps(run[i], run[i + 1]) != level) continue;
      for (std::size_t e : {run[i], run[i + 1]}) {
        const NestLoop& loop = levels_[e].loops[level];
        if (loop.spatial || loop.tile_shape != 1) return false;
        const auto variable = step_variable(problem_.workload, nests_[e]->einsum);
        if (variable && loop.variable != *variable) return false;
        if (level > 0 && !exchanges_below(e, level)) return false;
      }
    }
    return true;
  }

  bool exchanges_below(std::size_t e, std::size_t level) const {
    const std::vector<SharedTensor> shared = shared_tensors(problem_, *nests_[e]);
    return std::any_of(shared.begin(), shared.end(),
                       [&](const SharedTensor& tensor) { return tensor.loops_above > level; });
  }

  /// Each Einsum of the run reaches each other one over tensors that live under this loop.
  bool tied_together(const Group& run, std::size_t level) const {
    Group reached = {run[0]};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (std::size_t t = 0; t < users_.size(); ++t) {
        const Group& users = users_[t];
        if (loops_above_[t] <= level) continue;
        if (std::find(users.begin(), users.end(), reached[i]) == users.end()) continue;
        for (std::size_t user : users)
          if (std::find(reached.begin(), reached.end(), user) == reached.end())
            reached.push_back(user);
      }
      for (std::size_t e : run)
        if (std::find(reached.begin(), reached.end(), e) == reached.end() &&
            are_tied_by_steps(e, reached[i], level))
          reached.push_back(e);
    }
    return std::all_of(run.begin(), run.end(), [&](std::size_t e) {
      return std::find(reached.begin(), reached.end(), e) != reached.end();
    });
  }

  const BoundProblem& problem_;
  const std::vector<const Pmapping*>& nests_;
  std::vector<std::pair<Cycle, std::size_t>> cycles_;  ///< with the level of the loop over steps
  std::vector<Levels> levels_;
  std::vector<std::size_t> loops_above_;  ///< per tensor
  std::vector<Group> users_;              ///< per tensor; empty for tensors of one Einsum
  std::vector<NestStorage> written_;
  bool coherent_ = true;
};

}  // namespace

std::vector<SharedTensor> shared_tensors(const BoundProblem& problem, const Pmapping& pmapping) {
  const Einsum& einsum = problem.workload[pmapping.einsum];
  std::vector<SharedTensor> shared;
  std::vector<NestLoop> above;
  for (const NestNode& node : pmapping.nodes) {
    if (const NestLoop* loop = as_loop(node)) {
      above.push_back(*loop);
      continue;
    }
    const NestStorage& storage = *as_storage(node);
    if (!storage.backing || !is_exchanged(problem.roles, storage.tensor)) continue;
    SharedTensor entry{storage.tensor, above.size(),
                       "M" + std::to_string(storage.component.index())};
    for (const NestLoop& loop : above)
      entry.signature += loop_signature(einsum, storage.tensor, loop);
    shared.push_back(std::move(entry));
  }
  return shared;
}

std::size_t fused_loops(const BoundProblem& problem, const Pmapping& pmapping) {
  std::size_t count = 0;
  for (const SharedTensor& shared : shared_tensors(problem, pmapping))
    count = std::max(count, shared.loops_above);
  if (!in_cycle(problem.workload, pmapping.einsum)) return count;
  // Who takes no steps shares as many loops as the others have above them.
  const auto steps = steps_in(problem, pmapping);
  return std::max(count, steps ? *steps + 1 : levels_of(pmapping).loops.size());
}

std::optional<Mapping> join(const BoundProblem& problem,
                            const std::vector<const Pmapping*>& nests) {
  return TreeBuilder(problem, nests).build();
}

std::string interface_key(const BoundProblem& problem, const Pmapping& pmapping) {
  const std::size_t fused = fused_loops(problem, pmapping);
  std::vector<NestNode> outer;  // down to the last fused loop
  std::size_t loops = 0;
  for (const NestNode& node : pmapping.nodes) {
    if (loops == fused) break;
    outer.push_back(node);
    loops += as_loop(node) ? 1 : 0;
  }
  std::string key = fused > 0 ? nest_key(outer, ComponentId(0)) : std::string();
  for (const NestNode& node : pmapping.nodes)  // persistent tensors take room in every Einsum
    if (const NestStorage* storage = as_storage(node); storage && storage->persistent)
      key += " p" + nest_key({*storage}, ComponentId(0));
  for (const SharedTensor& shared : shared_tensors(problem, pmapping))
    key += " " + std::to_string(shared.tensor.index()) + ":" + std::to_string(shared.loops_above) +
           shared.signature;
  return key;
}

}  // namespace sluice::oracle
