#include "structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sluice::sim {
namespace {

void for_each_node(const NodeList& list, const std::function<void(const Node&)>& visit) {
  for (const Node& node : list) {
    visit(node);
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) for_each_node(child, visit);
  }
}

bool costs_something(const Network& network) {
  return network.hop_energy_j != 0 || network.link_bandwidth != kUnbounded;
}

/// Checks the path of one Einsum.
class PathCheck {
 public:
  PathCheck(const Workload& workload, const Arch& arch, EinsumId einsum, const Path& path,
            Facts& facts, Complaints& complaints)
      : workload_(workload),
        arch_(arch),
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

  /// A loop above a backing storage repeats or scatters what it holds unless it walks the tensor.
  void check_loops_above(TensorId tensor, const Link& backing) {
    for (std::size_t i = 0; i < backing.loop_depth; ++i) {
      const LoopItem& loop = *path_.loops[i];
      const auto variable = walked(loop, einsum_);
      if (!variable || !has_steps(i, *variable)) continue;
      for (const TensorAccess& access : einsum_.accesses) {
        if (access.tensor != tensor) continue;
        const Relevance seen = relevance(access, *variable);
        if (seen == Relevance::kRelevant) continue;
        if (seen == Relevance::kPartial && is_shared_window(tensor)) continue;
        complain(
            "The loop over {} stands above the backing storage of {} but does not walk it "
            "for the Einsum {}.",
            workload_[*variable].name, workload_[tensor].name, einsum_.name);
      }
    }
  }

  /// Rows that slide through a backing storage: made and read, or carried from step to step.
  bool is_shared_window(TensorId tensor) const {
    return facts_.roles().producer[tensor.index()].has_value();
  }

  /// Whether loops[i] takes more than one step over a variable.
  bool has_steps(std::size_t i, RankVariableId variable) const {
    std::int64_t tile = variable_size(einsum_, variable);
    for (std::size_t j = 0; j < i; ++j)
      if (walked(*path_.loops[j], einsum_) == variable && !makes_rows_for_a_window(*path_.loops[j]))
        tile = std::min(tile, largest_tile(*path_.loops[j]));
    return largest_tile(*path_.loops[i]) < tile;
  }

  /// Along such a loop the Einsum makes what its reader needs next: the tile shape is the reader's.
  bool makes_rows_for_a_window(const LoopItem& loop) const {
    for (const Einsum& reader : workload_.einsums)
      for (const TensorAccess& access : reader.accesses)
        for (const AffineExpression& index : access.projection) {
          const auto variable = walked(loop, reader);
          if (!access.is_output && access.tensor == einsum_.output().tensor && variable &&
              index.coefficient_of(*variable) != 0 && index.terms.size() > 1)
            return true;
        }
    return false;
  }

  static std::int64_t largest_tile(const LoopItem& loop) {
    return std::max(loop.tile_shape, loop.initial_tile_shape.value_or(0));
  }

  void check_spatial(std::size_t i) {
    const LoopItem& loop = *path_.loops[i];
    const auto own = place_of(loop.component);
    const auto variable = walked(loop, einsum_);
    const std::string name = variable ? workload_[*variable].name : "nothing";
    if (!own) {
      complain("The spatial loop over {} of {} is not on the way to the compute of {}.", name,
               arch_[loop.component].name, einsum_.name);
      return;
    }
    if (!variable || !has_steps(i, *variable)) return;
    for (const auto& [tensor, links] : path_.links)
      for (const Link& link : links) {
        const auto place = place_of(link.storage->component);
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
  EinsumId id_;
  const Einsum& einsum_;
  const Path& path_;
  Facts& facts_;
  Complaints& complaints_;
  std::vector<ComponentId> components_;
};

void check_useful(const Workload& workload, const Arch& arch, const Body& body,
                  Complaints& complaints) {
  for (const Item& item : body.items) {
    if (const auto* storage = std::get_if<StorageItem>(&item))
      if (storage->served.empty())
        complaints.add(ComplaintKind::kStructure,
                       fmt::format("{} stores {} where no Einsum below uses it.",
                                   arch[storage->component].name, workload[storage->tensor].name));
    if (const auto* split = std::get_if<SplitItem>(&item))
      for (const Body& child : split->children) check_useful(workload, arch, child, complaints);
  }
}

}  // namespace

void check_supported(const Workload& workload, const Arch& arch, const Mapping& mapping,
                     Complaints& complaints) {
  const auto complain = [&](const std::string& what) {
    complaints.add(ComplaintKind::kUnsupported, what + " cannot be executed yet.");
  };
  for_each_node(mapping.nodes, [&](const Node& node) {
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      if (storage->shared_by) complain("A tile that peers share (`shared_by`)");
    } else if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
      if (split->kind != SplitKind::kSequential)
        complain("A " + split_name(split->kind) + " split");
    } else if (const auto* collective = std::get_if<CollectiveNode>(&node.kind)) {
      complain("The collective on " + workload[collective->tensor].name);
    }
  });
  for (const Component& component : arch.components)
    if (const auto* network = std::get_if<Network>(&component.kind))
      if (costs_something(*network)) complain("Traffic over the network " + component.name);
}

void check_structure(const Workload& workload, const Arch& arch, const Mapping& mapping,
                     const Program& program, Facts& facts, Complaints& complaints) {
  std::vector<int> computed(workload.einsums.size(), 0);
  for_each_node(mapping.nodes, [&](const Node& node) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind))
      ++computed[compute->einsum.index()];
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
  for (const auto& [einsum, path] : program.paths)
    PathCheck(workload, arch, einsum, path, facts, complaints).run();
}

HeldTensors held_tensors(const Program& program) {
  HeldTensors held;
  for (const auto& [einsum, path] : program.paths)
    for (const auto& [tensor, links] : path.links)
      for (const Link& link : links) held[{einsum, link.storage->component}].push_back(tensor);
  return held;
}

}  // namespace sluice::sim
