#include "split_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "placing.h"

namespace sluice::referee {
namespace {

bool has_steps(const LoopItem& loop) { return !loop.is_spatial && !loop.has_one_step; }

/// What stands above a node.
struct Around {
  std::vector<const StorageItem*> storages;
  std::vector<const LoopItem*> loops;
  std::vector<std::pair<ComponentId, std::uint32_t>> shared_out;       ///< by splits
  std::map<std::pair<ComponentId, std::uint32_t>, std::int64_t> room;  ///< instances of the child
  /// The innermost pipelined split of several steps: these, the child that the node is in, and how
  /// many of `storages` stand above that.
  std::vector<const LoopItem*> steps;
  const Body* child = nullptr;
  std::size_t n_outside = 0;
};

class SplitCheck {
 public:
  SplitCheck(const Workload& workload, const Arch& arch, const Program& program,
             const TensorRoles& roles, Complaints& complaints)
      : workload_(workload),
        arch_(arch),
        program_(program),
        roles_(roles),
        complaints_(complaints) {}

  void check(const Body& body, Around around) {
    for (std::size_t i = 0; i < body.items.size(); ++i) {
      if (const auto* storage = std::get_if<StorageItem>(&body.items[i])) {
        if (storage->stays_in) check_resident(*storage, around);
        around.storages.push_back(storage);
      } else if (const auto* loop = std::get_if<LoopItem>(&body.items[i])) {
        around.loops.push_back(loop);
      } else if (const auto* split = std::get_if<SplitItem>(&body.items[i])) {
        check_split(body, *split, around);
      } else if (const auto* collective = std::get_if<CollectiveStep>(&body.items[i])) {
        check_ends(program_.collectives[collective->id], around);
      }
    }
  }

 private:
  template <class... Values>
  void illegal(fmt::format_string<Values...> text, Values&&... values) {
    complaints_.add(ComplaintKind::kStructure, fmt::format(text, std::forward<Values>(values)...));
  }
  template <class... Values>
  void unsupported(fmt::format_string<Values...> text, Values&&... values) {
    complaints_.add(
        ComplaintKind::kUnsupported,
        fmt::format(text, std::forward<Values>(values)...) + " cannot be executed yet.");
  }
  const std::string& name(TensorId tensor) const { return workload_[tensor].name; }
  const std::string& name(ComponentId component) const { return arch_[component].name; }

  static bool is_collective(const Body& child) {
    return !child.items.empty() && std::holds_alternative<CollectiveStep>(child.items.front());
  }

  void check_split(const Body& body, const SplitItem& split, const Around& around) {
    std::vector<const Body*> children;
    for (const Body& child : split.children)
      if (!is_collective(child)) children.push_back(&child);
    if (!split.over.empty() || !split.shares.empty()) check_regions(split, children, around);
    for (const auto& [tensor, memory] : split.forwards)
      check_forward(tensor, memory, children, around);
    Around inside = around;
    if (split.shared_out) inside.shared_out.push_back(*split.shared_out);
    if (body.steps_begin || split.kind == SplitKind::kParallel) check_collectives(split);
    if (body.steps_begin) {
      inside.steps.clear();
      for (std::size_t i = *body.steps_begin; i < body.items.size(); ++i)
        if (const auto* loop = std::get_if<LoopItem>(&body.items[i]); loop && has_steps(*loop))
          inside.steps.push_back(loop);
      inside.n_outside = around.storages.size();
    }
    std::size_t share = 0;
    for (const Body& child : split.children) {
      if (body.steps_begin) inside.child = &child;
      if (split.shared_out && !is_collective(child) && share < split.shares.size())
        inside.room[*split.shared_out] = split.shares[share++];
      check(child, inside);
    }
  }

  /// One end has a place in the region, the other one has not.
  void check_ends(const CollectiveNode& node, const Around& around) {
    for (const auto& [container, dimension] : around.shared_out)
      if (std::min(node.src, node.dst) < container && container < std::max(node.src, node.dst))
        unsupported("The {} of {} into or out of the region of {} that its child has",
                    collective_name(node.type), name(node.tensor), name(container));
  }

  /// A collective belongs to the child before it: in a pipeline it works on that one's step, beside
  /// parallel children it runs in the same slot.
  void check_collectives(const SplitItem& split) {
    const Body* before = nullptr;
    for (const Body& child : split.children) {
      if (!is_collective(child)) {
        before = &child;
        continue;
      }
      const CollectiveNode& node =
          program_.collectives[std::get<CollectiveStep>(child.items.front()).id];
      const bool is_used =
          before && std::any_of(before->einsums.begin(), before->einsums.end(), [&](EinsumId e) {
            return find_access(workload_[e], node.tensor) != nullptr;
          });
      if (!is_used)
        illegal(
            "The {} of {} belongs to the child before it, which runs beside the others or on "
            "another step and does not use {}: put it right behind the child that makes {}.",
            collective_name(node.type), name(node.tensor), name(node.tensor), name(node.tensor));
    }
  }

  // --- regions

  void check_regions(const SplitItem& split, const std::vector<const Body*>& children,
                     const Around& around) {
    if (split.over.empty() || split.shares.empty())
      return illegal("'over' and 'shares' go together: a dimension, and who has how much of it.");
    if (!split.shared_out || !std::holds_alternative<Container>(arch_[container(split)].kind))
      return illegal(
          "There is not exactly one container with a dimension {} on the way to all computes of "
          "the split that shares it out.",
          split.over);
    const Component& shared = arch_[container(split)];
    const auto room = around.room.find(*split.shared_out);
    const std::int64_t fanout =
        room == around.room.end() ? shared.spatial[split.shared_out->second].fanout : room->second;
    const std::int64_t sum =
        std::accumulate(split.shares.begin(), split.shares.end(), std::int64_t{0});
    if (split.shares.size() != children.size())
      illegal("The split over {} has {} children and {} shares.", split.over, children.size(),
              split.shares.size());
    if (*std::min_element(split.shares.begin(), split.shares.end()) < 1)
      illegal("A child of the split over {} has no share of it.", split.over);
    if (sum > fanout)
      illegal("The shares of {} are {} instances; {} has {}.", split.over, sum, shared.name,
              fanout);
    if (std::get<Container>(shared.kind).array)
      unsupported("A split that shares out the systolic array {}", shared.name);
    check_network_of(split, children);
    for (const LoopItem* loop : around.loops)
      if (loop->is_spatial && !loop->has_one_step && loop->component == container(split) &&
          loop->dimension == split.shared_out->second)
        illegal("The spatial loop over {} stands above the split that shares out {}.",
                workload_[loop->variables.front()].name, split.over);
    check_held_above(split, children, around);
  }

  static ComponentId container(const SplitItem& split) { return split.shared_out->first; }

  std::vector<ComponentId> way_of(const std::vector<const Body*>& children) const {
    for (const Body* child : children)
      for (EinsumId einsum : child->einsums)
        return path_to(arch_, program_.paths.at(einsum).compute);
    return {};
  }

  void check_network_of(const SplitItem& split, const std::vector<const Body*>& children) {
    const Network* network = nullptr;
    for (ComponentId component : way_of(children)) {
      if (const auto* found = std::get_if<Network>(&arch_[component].kind)) network = found;
      if (component == container(split)) break;
      if (!arch_[component].spatial.empty()) network = nullptr;
    }
    if (network && network->layout == NodeLayout::kPacked)
      unsupported("A split that shares out the packed nodes of a network ({})", split.over);
    if (network && network->repeated_values == RepeatedValues::kFree)
      unsupported("A split that shares out {} below a network with free repeated values",
                  split.over);
  }

  /// What stands above the split has no instance of its own below the container.
  void check_held_above(const SplitItem& split, const std::vector<const Body*>& children,
                        const Around& around) {
    EinsumSet below;
    for (const Body* child : children) below.insert(child->einsums.begin(), child->einsums.end());
    const std::vector<ComponentId> way = way_of(children);
    const auto own = std::find(way.begin(), way.end(), container(split));
    for (const StorageItem* storage : around.storages) {
      const bool is_inside = std::find(own, way.end(), storage->component) != way.end();
      if (!storage->is_toll && is_inside && meet(storage->served, below))
        illegal("The storage of {} in {} stands above the split that shares out {}.",
                name(storage->tensor), name(storage->component), split.over);
    }
  }

  // --- forwarded tensors

  void check_forward(TensorId tensor, ComponentId memory, const std::vector<const Body*>& children,
                     const Around& around) {
    const auto child_of = [&](EinsumId einsum) {
      return std::find_if(children.begin(), children.end(),
                          [&](const Body* child) { return child->einsums.count(einsum) > 0; });
    };
    if (roles_.has_several_makers(tensor))
      return illegal("{} is forwarded, and several Einsums make it.", name(tensor));
    const auto maker = roles_.sole_maker(tensor);
    if (!maker || child_of(*maker) == children.end())
      return illegal("{} is forwarded, and no child of the split makes it.", name(tensor));
    if (roles_.consumers[tensor.index()].empty())
      return illegal("{} is forwarded, and nobody reads it.", name(tensor));
    for (const StorageItem* storage : around.storages)
      if (storage->tensor == tensor && storage->served.count(*maker) > 0)
        illegal("{} is forwarded, and {} holds it above the split.", name(tensor),
                name(storage->component));
    check_end(tensor, memory, *maker);
    std::map<const Body*, const StorageItem*> ends;
    for (EinsumId reader : roles_.consumers[tensor.index()]) {
      const auto child = child_of(reader);
      if (child == children.end() || child <= child_of(*maker)) {
        illegal("{} is forwarded, and the Einsum {} does not read it in a later child.",
                name(tensor), workload_[reader].name);
        continue;
      }
      const StorageItem* end = check_end(tensor, memory, reader);
      if (end && ends.try_emplace(*child, end).first->second != end)
        unsupported("Forwarding {} to several storages of one child", name(tensor));
    }
    for (const CollectiveNode& collective : program_.collectives)
      if (collective.tensor == tensor)
        unsupported("A collective on the forwarded tensor {}", name(tensor));
  }

  /// The outermost storage of a forwarded tensor at one of its ends.
  const StorageItem* check_end(TensorId tensor, ComponentId memory, EinsumId einsum) {
    const auto path = program_.paths.find(einsum);
    if (path == program_.paths.end()) return nullptr;
    const auto links = path->second.links.find(tensor);
    const Link* end = links == path->second.links.end() ? nullptr : &links->second.front();
    if (!end || !end->storage->is_forwarded() || end->storage->component != memory) {
      illegal("{} is forwarded through {}, and that is not where the Einsum {} has it first.",
              name(tensor), name(memory), workload_[einsum].name);
      return nullptr;
    }
    if (end->storage->persistent || workload_[tensor].persistent)
      unsupported("Forwarding the persistent tensor {}", name(tensor));
    for (std::size_t i = end->loop_depth - end->storage->own_loops; i < end->loop_depth; ++i)
      if (has_steps(*path->second.loops[i]))
        unsupported("Forwarding {} below a loop over {} of several steps in a child", name(tensor),
                    workload_[path->second.loops[i]->variables.front()].name);
    return end->storage;
  }

  // --- resident storages

  void check_resident(const StorageItem& storage, const Around& around) {
    const std::string what =
        fmt::format("{} is resident in {}", name(storage.tensor), name(storage.component));
    // Its tile moves with the steps, or is made anew in each of them.
    if (storage.is_backing) illegal("{}, and that is where it comes from.", what);
    if (storage.is_interrupted)
      illegal("{} below a loop of several steps of its child: it would not be filled once.", what);
    for (const LoopItem* loop : around.steps)
      for (EinsumId einsum : storage.served)
        if (const auto variable = walked(*loop, workload_[einsum]);
            variable && indexes(*variable, einsum, storage.tensor))
          illegal("{}, but the step loop over {} indexes it.", what, workload_[*variable].name);
    for (EinsumId maker : roles_.makers[storage.tensor.index()])
      if (around.child && around.child->einsums.count(maker) > 0)
        illegal("{}, and the Einsum {} of the same child makes it.", what, workload_[maker].name);
    for (std::size_t s = around.n_outside; s < around.storages.size(); ++s)
      if (!around.storages[s]->is_toll && around.storages[s]->tensor == storage.tensor &&
          meet(around.storages[s]->served, storage.served))
        illegal("{}, and {} has it further out in the same child.", what,
                name(around.storages[s]->component));
  }

  bool indexes(RankVariableId variable, EinsumId einsum, TensorId tensor) const {
    const auto& accesses = workload_[einsum].accesses;
    return std::any_of(accesses.begin(), accesses.end(), [&](const TensorAccess& access) {
      return access.tensor == tensor && relevance(access, variable) != Relevance::kIrrelevant;
    });
  }

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  const TensorRoles& roles_;
  Complaints& complaints_;
};

}  // namespace

void check_splits(const Workload& workload, const Arch& arch, const Program& program,
                  const TensorRoles& roles, Complaints& complaints) {
  SplitCheck(workload, arch, program, roles, complaints).check(program.root, {});
}

}  // namespace sluice::referee
