#include "structure.h"

#include <fmt/format.h>

#include <algorithm>

#include "placing.h"
#include "split_rules.h"

namespace sluice::referee {

void for_each_node(const NodeList& list, const std::function<void(const Node&)>& visit) {
  for (const Node& node : list) {
    visit(node);
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) for_each_node(child, visit);
  }
}

namespace {

bool reads(const Einsum& einsum, TensorId tensor) {
  return std::any_of(
      einsum.accesses.begin(), einsum.accesses.end(),
      [&](const TensorAccess& access) { return access.tensor == tensor && !access.is_output; });
}

/// Checks the path of one Einsum.
class PathCheck {
 public:
  PathCheck(const Workload& workload, const Arch& arch, const Program& program, EinsumId einsum,
            const Path& path, Facts& facts, Complaints& complaints)
      : workload_(workload),
        arch_(arch),
        program_(program),
        id_(einsum),
        einsum_(workload[einsum]),
        path_(path),
        facts_(facts),
        complaints_(complaints),
        components_(path_to(arch, path.compute)) {}

  void run() {
    if (!arch_[path_.compute].is_compute() || !facts_.accepts(id_, path_.compute))
      complain("{} does not accept the Einsum {}.", arch_[path_.compute].name, einsum_.name);
    for (TensorId tensor : tensors_of(einsum_)) check_storages(tensor);
    for (std::size_t i = 0; i < path_.loops.size(); ++i)
      if (path_.loops[i]->is_spatial) check_spatial(i);
  }

 private:
  template <class... Values>
  void complain(fmt::format_string<Values...> text, Values&&... values) {
    complaints_.add(ComplaintKind::kStructure, fmt::format(text, std::forward<Values>(values)...));
  }

  /// Place of a component on the way to the compute; none if it is not on it.
  std::optional<std::size_t> place_of(ComponentId component) const {
    const auto at = std::find(components_.begin(), components_.end(), component);
    if (at == components_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - components_.begin());
  }

  void check_storages(TensorId tensor) {
    const auto links = path_.links.find(tensor);
    if (links == path_.links.end() || links->second.front().storage->is_toll) {
      complain("{} has no backing storage above the compute of {}.", workload_[tensor].name,
               einsum_.name);
      return;
    }
    std::optional<std::size_t> last;
    check_incremental(tensor, links->second);
    for (const Link& link : links->second) check_shares(tensor, link);
    for (const Link& link : links->second) {
      const auto place = place_of(link.storage->component);
      const std::string& name = arch_[link.storage->component].name;
      if (!place)
        complain("{} holds {} for the Einsum {}, but is not on the way to its compute.", name,
                 workload_[tensor].name, einsum_.name);
      else if (last && *place <= *last)
        complain("{} holds {} for the Einsum {} below a component that is further in.", name,
                 workload_[tensor].name, einsum_.name);
      last = place;
    }
    check_loops_above(tensor, links->second.front());
  }

  /// A node that writes its whole tile back at the end of each visit cannot stand above one that
  /// keeps partial sums for longer.
  /// What the peers of a storage that shares its tile need.
  void check_shares(TensorId tensor, const Link& link) {
    const StorageItem& storage = *link.storage;
    if (storage.shared_by == 1) return;
    const auto cannot = [&](const std::string& what) {
      complaints_.add(ComplaintKind::kUnsupported,
                      fmt::format("The tile of {} that peers share cannot be executed {} yet.",
                                  workload_[tensor].name, what));
    };
    if (!storage.over || !storage.along) return cannot("without `over` and `along`");
    std::int64_t peers = 1;
    for (const std::size_t d : loops_over_peers(workload_, id_, path_, link))
      peers *= static_cast<std::int64_t>(path_.spatial[d]->steps.at(id_));
    std::int64_t whole = 1;
    for (const VariableRange& range : einsum_.iteration_space)
      if (range.variable == *storage.along) whole = range.size;
    for (std::size_t l = 0; l < link.loop_depth; ++l)
      if (walked(*path_.loops[l], einsum_) == storage.along)
        whole = std::min(whole, path_.loops[l]->tile_shape);
    if (peers % storage.shared_by != 0 || whole % storage.shared_by != 0)
      complain("{} peers cannot share the tile of {}: it has {} steps, and {} instances need it.",
               storage.shared_by, workload_[tensor].name, whole, peers);
    if (peers != storage.shared_by) cannot("by part of them");
    if (storage.is_backing || storage.is_toll || storage.served.size() != 1 ||
        storage.slides_over || storage.incremental || storage.persistent ||
        einsum_.is_copy_operation || einsum_.output().tensor == tensor)
      cannot("in this node");
    if (std::none_of(path_.loops.begin(), path_.loops.end(),
                     [&](const LoopItem* loop) { return loop->rotates == storage.id; }))
      cannot("on demand");
  }

  void check_incremental(TensorId tensor, const std::vector<Link>& links) {
    if (tensor != einsum_.output().tensor) return;
    const StorageItem* refetched = nullptr;
    for (const Link& link : links) {
      if (link.storage->is_toll || link.storage->is_backing) continue;
      if (!link.storage->incremental)
        refetched = link.storage;
      else if (refetched)
        complain("{} keeps partial sums of {} from visit to visit, and {} above it does not.",
                 arch_[link.storage->component].name, workload_[tensor].name,
                 arch_[refetched->component].name);
    }
  }

  /// A loop above a backing storage repeats or scatters what it holds unless it walks the tensor.
  void check_loops_above(TensorId tensor, const Link& backing) {
    // What is forwarded to a reader's own loops may come to several of their instances.
    const std::size_t own = backing.storage->exchange == StorageItem::Exchange::kReceives
                                ? backing.storage->own_loops
                                : 0;
    for (std::size_t i = 0; i < backing.loop_depth - own; ++i) {
      const LoopItem& loop = *path_.loops[i];
      const auto variable = walked(loop, einsum_);
      if (!variable || !has_steps(i)) continue;
      for (const TensorAccess& access : einsum_.accesses) {
        if (access.tensor != tensor) continue;
        const Relevance seen = relevance(access, *variable);
        if (seen == Relevance::kRelevant) continue;
        if (is_collected(program_, arch_, tensor, loop)) continue;
        if (seen == Relevance::kPartial && is_shared_window(tensor) && !is_made_in_windows(tensor))
          continue;
        complain(
            "The loop over {} stands above the backing storage of {} but does not walk it "
            "for the Einsum {}.",
            workload_[*variable].name, workload_[tensor].name, einsum_.name);
      }
    }
  }

  /// Rows that slide through a backing storage: made and read, or carried from step to step.
  bool is_shared_window(TensorId tensor) const { return facts_.roles().is_made(tensor); }

  /// The tiles of two steps of its maker overlap: neither has all of the sums.
  bool is_made_in_windows(TensorId tensor) const {
    const std::vector<AffineExpression>& made = einsum_.output().projection;
    return einsum_.output().tensor == tensor &&
           std::any_of(made.begin(), made.end(),
                       [](const AffineExpression& index) { return index.is_window(); });
  }

  /// Whether loops[i] takes more than one step.
  bool has_steps(std::size_t i) const {
    const auto steps = path_.loops[i]->steps.find(id_);
    return steps != path_.loops[i]->steps.end() && steps->second > 1;
  }

  void check_spatial(std::size_t i) {
    const LoopItem& loop = *path_.loops[i];
    const auto own = place_of(loop.component);
    const auto variable = walked(loop, einsum_);
    const std::string name = variable ? workload_[*variable].name : "nothing";
    if (!own) {
      if (!has_steps(i)) return;
      complain("The spatial loop over {} of {} is not on the way to the compute of {}.", name,
               arch_[loop.component].name, einsum_.name);
      return;
    }
    if (!variable || !has_steps(i)) return;
    for (const auto& [tensor, links] : path_.links)
      for (const Link& link : links) {
        const auto place = place_of(link.storage->component);
        // What stays during the whole run stands above everything.
        if (link.storage->persistent) continue;
        if (!place || (*place < *own) == (link.loop_depth <= i)) continue;
        complain(
            "The spatial loop over {} of {} stands on the wrong side of the storage of {} in "
            "{}.",
            name, arch_[loop.component].name, workload_[tensor].name,
            arch_[link.storage->component].name);
      }
    for (TensorId tensor : facts_.must_reuse(id_, loop.component, loop.dimension))
      for (const TensorAccess& access : einsum_.accesses)
        if (access.tensor == tensor && relevance(access, *variable) != Relevance::kIrrelevant)
          complain("The dimension {}.{} must reuse {}, which the spatial loop over {} indexes.",
                   arch_[loop.component].name, arch_[loop.component].spatial[loop.dimension].name,
                   workload_[tensor].name, name);
    for (const TensorAccess& access : einsum_.accesses)
      if (&access == &einsum_.output() && reads_own_output(access.tensor) &&
          relevance(access, *variable) == Relevance::kPartial)
        complain("The loop over {} carries {} from step to step; it cannot be spatial.", name,
                 workload_[access.tensor].name);
  }

  bool reads_own_output(TensorId output) const {
    return std::any_of(
        einsum_.accesses.begin(), einsum_.accesses.end(),
        [&](const TensorAccess& access) { return access.tensor == output && !access.is_output; });
  }

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  EinsumId id_;
  const Einsum& einsum_;
  const Path& path_;
  Facts& facts_;
  Complaints& complaints_;
  std::vector<ComponentId> components_;
};

/// A loop that a maker and a reader share walks the same rank of what they exchange, in both:
/// otherwise it is not one loop of both (model.md, "Sharing").
class SharedLoopCheck {
 public:
  SharedLoopCheck(const Workload& workload, const Arch& arch, const Program& program,
                  Complaints& complaints)
      : workload_(workload), arch_(arch), program_(program), complaints_(complaints) {}

  void run(EinsumId maker, EinsumId reader) {
    for (const LoopItem* loop : program_.paths.at(reader).loops) {
      const auto& made = program_.paths.at(maker).loops;
      if (std::find(made.begin(), made.end(), loop) == made.end() || loop->has_one_step) continue;
      const auto writes = walked(*loop, workload_[maker]);
      const auto reads = walked(*loop, workload_[reader]);
      if (!writes || !reads || !(takes_steps(*loop, maker) || takes_steps(*loop, reader))) continue;
      if (is_collected(program_, arch_, workload_[maker].output().tensor, *loop)) continue;
      if (!walk_alike(maker, *writes, reader, *reads))
        complaints_.add(
            ComplaintKind::kStructure,
            fmt::format("The Einsums {} and {} share a loop over {} that walks different ranks of "
                        "{}.",
                        workload_[maker].name, workload_[reader].name, workload_[*reads].name,
                        workload_[workload_[maker].output().tensor].name));
    }
  }

 private:
  static bool takes_steps(const LoopItem& loop, EinsumId einsum) {
    const auto steps = loop.steps.find(einsum);
    return steps != loop.steps.end() && steps->second > 1;
  }

  bool walk_alike(EinsumId maker, RankVariableId made, EinsumId reader, RankVariableId used) const {
    const TensorAccess& output = workload_[maker].output();
    if (relevance(output, made) != Relevance::kRelevant) return false;
    for (const TensorAccess& access : workload_[reader].accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r)
        if (access.tensor == output.tensor && !access.is_output &&
            (output.projection[r].coefficient_of(made) != 0) !=
                (access.projection[r].coefficient_of(used) != 0))
          return false;
    return true;
  }

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  Complaints& complaints_;
};

void check_useful(const Workload& workload, const Arch& arch, const Body& body,
                  Complaints& complaints) {
  for (const Item& item : body.items) {
    if (const auto* storage = std::get_if<StorageItem>(&item))
      if (storage->served.empty())
        complaints.add(ComplaintKind::kStructure,
                       fmt::format("{} stores {} where no Einsum below uses it.",
                                   arch[storage->component].name, workload[storage->tensor].name));
    if (const auto* loop = std::get_if<LoopItem>(&item))
      if (loop->steps.empty() && !loop->has_one_step)
        complaints.add(ComplaintKind::kStructure,
                       fmt::format("The loop over {} repeats what stands below; no Einsum there "
                                   "uses it.",
                                   workload[loop->variables.front()].name));
    if (const auto* split = std::get_if<SplitItem>(&item))
      for (const Body& child : split->children) check_useful(workload, arch, child, complaints);
  }
}

}  // namespace

namespace {

void check_split(const Workload& workload, const SplitNode& split, Complaints& complaints) {
  if (split.kind == SplitKind::kSequential) return;
  const auto complain = [&](const char* what) {
    complaints.add(ComplaintKind::kUnsupported, fmt::format("A {} split {} cannot be executed yet.",
                                                            split_name(split.kind), what));
  };
  for (const NodeList& child : split.children)
    for_each_node(child, [&](const Node& node) {
      const auto* compute = std::get_if<ComputeNode>(&node.kind);
      if (compute && workload[compute->einsum].is_copy_operation) complain("with a copy below it");
    });
}

bool has_concurrent_split(const Mapping& mapping) {
  bool found = false;
  for_each_node(mapping.nodes, [&](const Node& node) {
    const auto* split = std::get_if<SplitNode>(&node.kind);
    found = found || (split && split->kind != SplitKind::kSequential);
  });
  return found;
}

}  // namespace

void check_supported(const Workload& workload, const Mapping& mapping, Complaints& complaints) {
  const auto complain = [&](const std::string& what) {
    complaints.add(ComplaintKind::kUnsupported, what + " cannot be executed yet.");
  };
  const bool is_concurrent = has_concurrent_split(mapping);
  for_each_node(mapping.nodes, [&](const Node& node) {
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      if (storage->incremental && is_concurrent)
        complain("An incremental storage beside a pipelined or parallel split");
    } else if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
      check_split(workload, *split, complaints);
    }
  });
}

void check_structure(const Workload& workload, const Arch& arch, const Mapping& mapping,
                     const Program& program, Facts& facts, Complaints& complaints) {
  if (program.exchanges_at_the_same_time) {
    complaints.add(ComplaintKind::kUnsupported,
                   "A collective from one layout to another among children that run at the same "
                   "time cannot be executed yet.");
    return;
  }
  std::vector<int> computed(workload.einsums.size(), 0);
  std::vector<EinsumId> order;
  for_each_node(mapping.nodes, [&](const Node& node) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
      order.push_back(compute->einsum), ++computed[compute->einsum.index()];
  });
  for (std::size_t e = 0; e < computed.size(); ++e) {
    const std::string& name = workload.einsums[e].name;
    if (computed[e] == 0)
      complaints.add(ComplaintKind::kStructure,
                     fmt::format("The mapping has no compute for the Einsum {}.", name));
    if (computed[e] > 1)
      complaints.add(ComplaintKind::kStructure,
                     fmt::format("The Einsum {} has {} computes.", name, computed[e]));
  }
  check_useful(workload, arch, program.root, complaints);
  check_splits(workload, arch, program, facts.roles(), complaints);
  for (const auto& [einsum, path] : program.paths)
    PathCheck(workload, arch, program, einsum, path, facts, complaints).run();
  for (std::size_t maker = 0; maker < order.size(); ++maker)
    for (std::size_t reader = maker + 1; reader < order.size(); ++reader)
      if (order[maker] != order[reader] &&
          reads(workload[order[reader]], workload[order[maker]].output().tensor))
        SharedLoopCheck(workload, arch, program, complaints).run(order[maker], order[reader]);
}

}  // namespace sluice::referee
