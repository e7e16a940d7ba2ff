#include "model/tree/regions.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "model/tree/lookups.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Whether every instance of `container` has instances of its own of `component`: it is the
/// container, or stands behind it in the same fork or in one inside.
bool stands_below(const Arch& arch, ComponentId container, ComponentId component) {
  if (component < container) return false;
  const std::optional<ForkId> outer = arch[container].fork;
  std::optional<ForkId> fork = arch[component].fork;
  while (outer && fork && *fork != *outer) fork = arch.forks[fork->index()].parent;
  return !outer || fork == outer;
}

/// Divides the instances of one split.
class RegionFinder {
 public:
  RegionFinder(const BoundProblem& problem, FlatTree& tree, ViolationReport& report,
               ConcurrentSplit& split)
      : problem_(problem), tree_(tree), report_(report), split_(split) {}

  void find() {
    const SplitNode& node = *split_.split;
    if (!node.over && node.shares.empty()) return;
    if (!node.over || node.shares.size() != split_.stages.size()) {
      add(ViolationKind::kFanout,
          "A split that shares out instances names a dimension (`over`) and has a share for each "
          "of "
          "its " +
              std::to_string(split_.stages.size()) + " children; this one has " +
              std::to_string(node.shares.size()) + ".");
      return;
    }
    if (!find_dimension() || !dimension_ || !check_shares()) return;
    split_.divided = dimension_->component;
    const Region* outer =
        tree_.region_of(split_.begin, dimension_->component, dimension_->dimension);
    std::int64_t first = outer ? outer->first : 0;
    for (std::size_t s = 0; s < node.shares.size(); ++s) {
      add_region({split_.stages[s], split_.stage_end(s), dimension_->component,
                  dimension_->dimension, first, node.shares[s]});
      first += node.shares[s];
    }
  }

 private:
  bool add(ViolationKind kind, const std::string& message) {
    report_.add(kind, split_.node, message);
    return false;
  }

  void add_region(const Region& region) {
    tree_.regions_at.resize(tree_.nests.size());
    for (int place = region.begin; place < region.end; ++place)
      tree_.regions_at[static_cast<std::size_t>(place)].push_back(
          static_cast<std::uint32_t>(tree_.regions.size()));
    tree_.regions.push_back(region);
  }

  /// The one dimension of this name on the way to every compute.
  bool find_dimension() {
    const std::string& over = *split_.split->over;
    for (int place = split_.begin; place < split_.end; ++place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      if (!nest.compute) continue;  // reported
      std::vector<FannedDimension> found;
      for (ComponentId component : nest.compute->path)
        for (std::uint32_t d = 0; d < problem_.arch[component].spatial.size(); ++d)
          if (problem_.arch[component].spatial[d].name == over) found.push_back({component, d});
      const std::string way = " the way to " + report_.name(nest.compute->component) +
                              ", on which the Einsum " + report_.name(nest.einsum) + " runs";
      if (found.empty())
        return add(ViolationKind::kFanout, "The children of a split share out the dimension " +
                                               over + ", which is not on" + way + ".");
      if (found.size() > 1)
        return add(ViolationKind::kFanout, "The children of a split share out the dimension " +
                                               over + "; several components on" + way +
                                               " have one of this name.");
      if (dimension_ && *dimension_ != found.front())
        return add(ViolationKind::kFanout,
                   "The children of a split share out the dimension " + over +
                       ", which is one of " + report_.name(dimension_->component) +
                       " for some of its Einsums and one of " +
                       report_.name(found.front().component) + " for others.");
      dimension_ = found.front();
      if (!std::holds_alternative<Container>(problem_.arch[dimension_->component].kind))
        return add(ViolationKind::kFanout, "The children of a split share out the dimension " +
                                               over + " of " + report_.name(dimension_->component) +
                                               ", which is no container.");
    }
    return true;
  }

  bool check_shares() {
    const std::vector<std::int64_t>& shares = split_.split->shares;
    std::int64_t sum = 0;
    for (std::int64_t share : shares) {
      if (share < 1)
        return add(ViolationKind::kFanout, "A child of a split has a share of " +
                                               std::to_string(share) + " instances of " +
                                               *split_.split->over + "; it needs one at least.");
      sum = checked_add(sum, share);
    }
    for (int place = split_.begin; place < split_.end; ++place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      const Region* outer = tree_.region_of(place, dimension_->component, dimension_->dimension);
      const std::int64_t fanout = outer ? outer->share
                                        : problem_[nest.einsum]
                                              .components[dimension_->component.index()]
                                              .spatial[dimension_->dimension]
                                              .fanout;
      if (sum > fanout)
        return add(ViolationKind::kFanout, "The shares of " + *split_.split->over + " add up to " +
                                               with_thousands(static_cast<double>(sum)) +
                                               " instances; there are " +
                                               with_thousands(static_cast<double>(fanout)) + ".");
    }
    return true;
  }

  const BoundProblem& problem_;
  FlatTree& tree_;
  ViolationReport& report_;
  ConcurrentSplit& split_;
  std::optional<FannedDimension> dimension_;
};

/// The rules of one split that shares out instances.
class RegionChecker {
 public:
  RegionChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                const ConcurrentSplit& split)
      : problem_(problem),
        tree_(tree),
        report_(report),
        split_(split),
        over_(*split.split->over),
        container_(*split.divided) {}

  void check() {
    check_loops();
    check_held();
    check_persistent();
    check_kinds();
  }

 private:
  /// A loop above would use the same instances for all children.
  void check_loops() {
    const std::vector<SpatialDimension>& spatial = problem_.arch[container_].spatial;
    const auto dimension = static_cast<std::uint32_t>(
        std::find_if(spatial.begin(), spatial.end(),
                     [&](const SpatialDimension& candidate) { return candidate.name == over_; }) -
        spatial.begin());
    for (const Node* node : split_.loops_above)
      for (int place = split_.begin; place < split_.end; ++place) {
        const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
        const NestLoop* loop = loop_at_node(tree_, nest, node);
        if (!loop || !loop->spatial || loop->trips == 1 || loop->component != container_ ||
            loop->dimension != dimension)
          continue;
        report_
            .add(ViolationKind::kFanout, node,
                 "The spatial loop over " +
                     report_.name(problem_.workload[nest.einsum]
                                      .iteration_space[static_cast<std::size_t>(loop->variable)]
                                      .variable) +
                     " stands above the split that shares out " + over_ +
                     "; its children have loops of their own over that dimension.")
            .component = container_;
        break;
      }
  }

  void check_held() {
    const std::set<std::uint32_t> served = served_entries();
    for (std::uint32_t e : split_.held_above) {
      const TreeEntry& entry = tree_.entries[e];
      if (!problem_.arch[entry.component].is_memory() || served.count(e) == 0 ||
          !stands_below(problem_.arch, container_, entry.component))
        continue;
      Violation& violation = report_.add(
          ViolationKind::kFanout, entry.node,
          "The storage of " + report_.name(entry.tensor) + " in " + report_.name(entry.component) +
              " stands above the split that shares out " + over_ +
              "; between children a tensor goes through a memory above " +
              report_.name(container_) + ", or by `forward`.");
      violation.component = entry.component;
      violation.tensors = {entry.tensor};
    }
  }

  /// What some Einsum of the split uses.
  std::set<std::uint32_t> served_entries() const {
    std::set<std::uint32_t> served;
    for (int place = split_.begin; place < split_.end; ++place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      for (auto s = nest.storages_begin; s < nest.storages_end; ++s)
        served.insert(tree_.storages[s].entry);
    }
    return served;
  }

  void check_persistent() {
    for (int place = split_.begin; place < split_.end; ++place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
        const TreeEntry& entry = tree_.entries[tree_.storages[s].entry];
        const bool persistent = std::get<StorageNode>(entry.node->kind).persistent ||
                                (entry.backing && problem_.workload[entry.tensor].persistent);
        if (!persistent || entry.concurrency <= split_.depth ||
            !stands_below(problem_.arch, container_, entry.component))
          continue;
        report_
            .add(ViolationKind::kUnsupportedNode, entry.node,
                 "The model cannot price the persistent " + report_.name(entry.tensor) + " in " +
                     report_.name(entry.component) + " below a split that shares out " + over_ +
                     " yet.")
            .tensors = {entry.tensor};
      }
    }
  }

  void check_kinds() {
    if (std::get<Container>(problem_.arch[container_].kind).array)
      refuse(report_.name(container_) + ", which is a systolic array");
    const Nest& nest = tree_.nests[static_cast<std::size_t>(split_.begin)];
    if (!nest.compute) return;  // reported
    for (const PathNetwork& path : nest.compute->networks) {
      if (path.fanned != container_) continue;
      const Network& network = std::get<Network>(problem_.arch[path.network].kind);
      if (network.layout == NodeLayout::kPacked)
        refuse("instances behind " + report_.name(path.network) + " with layout: packed");
      if (network.repeated_values == RepeatedValues::kFree)
        refuse("instances behind " + report_.name(path.network) + " with repeated_values: free");
    }
  }

  void refuse(const std::string& what) {
    report_.add(ViolationKind::kUnsupportedNode, split_.node,
                "The model cannot price a split that shares out " + what + " yet.");
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const ConcurrentSplit& split_;
  const std::string& over_;
  ComponentId container_;
};

}  // namespace

bool is_divided(const Arch& arch, const ConcurrentSplit& split, ComponentId component) {
  return split.divided && stands_below(arch, *split.divided, component);
}

std::vector<std::int64_t> first_instance(const FlatTree& tree, const Nest& nest,
                                         ComponentId component, std::size_t n_dimensions) {
  std::vector<std::int64_t> first;
  for (std::uint32_t d = 0; d < n_dimensions && !tree.regions.empty(); ++d)
    if (const Region* region = tree.region_of(tree.place(nest), component, d)) {
      first.resize(n_dimensions, 0);
      first[d] = region->first;
    }
  return first;
}

void find_regions(const BoundProblem& problem, FlatTree& tree, ViolationReport& report) {
  for (ConcurrentSplit& split : tree.concurrent)
    if (static_cast<std::size_t>(split.end) <= tree.nests.size())
      RegionFinder(problem, tree, report, split).find();
}

void check_regions(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  for (const ConcurrentSplit& split : tree.concurrent)
    if (split.divided) RegionChecker(problem, tree, report, split).check();
}

}  // namespace sluice
