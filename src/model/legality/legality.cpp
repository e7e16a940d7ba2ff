#include "model/legality/legality.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/legality/collective_rules.h"
#include "model/legality/concurrent_splits.h"
#include "model/legality/forward_rules.h"
#include "model/legality/shared_tensors.h"
#include "model/legality/windows.h"
#include "model/tree/finish_nests.h"
#include "model/tree/lookups.h"
#include "model/tree/regions.h"
#include "model/tree/resident.h"
#include "model/tree/shares.h"
#include "model/visits/first_sights.h"
#include "model/visits/overlaps.h"
#include "model/visits/refetches.h"
#include "model/visits/uneven_refetches.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// The rules that concern one Einsum alone.
class NestChecker {
 public:
  NestChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report)
      : problem_(problem), tree_(tree), report_(report) {
    backed_at_.reserve(64);
  }

  void check(const Nest& nest) {
    nest_ = &nest;
    einsum_ = &problem_[nest.einsum];
    if (!nest.compute) {
      report_compute();
      return;
    }
    collect_storages();
    check_backings();
    check_spatial_loops();
    check_networks();
    check_windows_on_networks();
    check_copied_tolls();
  }

 private:
  const std::string& einsum_name() const { return report_.name(nest_->einsum); }
  const std::string& tensor_name(int tensor) const {
    return report_.name(einsum_->tensors[static_cast<std::size_t>(tensor)]);
  }
  const std::string& variable_name(const NestLoop& loop) const {
    const Einsum& einsum = problem_.workload[nest_->einsum];
    return report_.name(einsum.iteration_space[static_cast<std::size_t>(loop.variable)].variable);
  }
  const Node* node_of(const NestStorage& storage) const {
    return tree_.entries[storage.entry].node;
  }
  int depth_of(ComponentId component) const { return nest_->compute->depth[component.index()]; }
  template <class Function>
  void for_each_storage(Function function) const {
    for (auto s = nest_->storages_begin; s < nest_->storages_end; ++s) function(tree_.storages[s]);
  }
  template <class Function>
  void for_each_loop(Function function) const {
    for (auto l = nest_->loops_begin; l < nest_->loops_end; ++l)
      function(tree_.loops[l], static_cast<int>(l - nest_->loops_begin));
  }
  Violation& add(ViolationKind kind, const Node* node, std::string message) {
    return report_.add(kind, node, std::move(message), nest_->einsum);
  }
  Violation& add(ViolationKind kind, const NestStorage& storage, std::string message) {
    Violation& violation = add(kind, node_of(storage), std::move(message));
    violation.component = storage.component;
    violation.tensors = {einsum_->tensors[static_cast<std::size_t>(storage.tensor)]};
    return violation;
  }

  void report_compute() {
    const ComponentId component = std::get<ComputeNode>(nest_->node->kind).component;
    std::string accepting;
    for (const BoundCompute& compute : einsum_->computes)
      accepting += (accepting.empty() ? "" : ", ") + report_.name(compute.component);
    add(ViolationKind::kCompute, nest_->node,
        report_.name(component) + " does not accept the Einsum " + einsum_name() +
            "; it can run on " + (accepting.empty() ? "nothing" : accepting) + ".")
        .component = component;
  }

  /// Fills `backed_at_`; checks that each tensor moves inwards only.
  void collect_storages() {
    const std::size_t n_tensors = einsum_->tensors.size();
    backed_at_.assign(n_tensors, nullptr);
    last_depth_.assign(n_tensors, -1);
    for_each_storage([&](const NestStorage& storage) {
      const auto t = static_cast<std::size_t>(storage.tensor);
      const int depth = depth_of(storage.component);
      if (!problem_.arch[storage.component].holds_tensors()) {
        add(ViolationKind::kForbiddenStorage, storage,
            report_.name(storage.component) + " is no memory; it cannot hold " +
                tensor_name(storage.tensor) + ".");
        return;
      }
      if (depth < 0 || !einsum_->components[storage.component.index()].enabled) {
        add(ViolationKind::kForbiddenStorage, storage,
            report_.name(storage.component) + " cannot hold " + tensor_name(storage.tensor) +
                " for the Einsum " + einsum_name() + ": it is not on the way to " +
                report_.name(nest_->compute->component) + ", or not enabled.");
        return;
      }
      if (depth <= last_depth_[t]) {
        add(ViolationKind::kStorageOrder, storage,
            tensor_name(storage.tensor) + " stands in " + report_.name(storage.component) +
                " below a memory that is further in (or the same); memories must come from the "
                "outermost inwards.");
      }
      last_depth_[t] = std::max(last_depth_[t], depth);
      if (storage.incremental) check_incremental(storage);
      if (!backed_at_[t] && problem_.arch[storage.component].is_memory()) backed_at_[t] = &storage;
      if (!backed_at_[t]) {
        add(ViolationKind::kMissingStorage, storage,
            "The toll " + report_.name(storage.component) +
                " stands above the backing storage of " + tensor_name(storage.tensor) + ".");
      }
    });
  }

  /// Where `incremental` means nothing that the model can count.
  void check_incremental(const NestStorage& storage) {
    if (!problem_.arch[storage.component].is_memory()) return;
    const auto refuse = [&](const std::string& why) {
      add(ViolationKind::kUnsupportedNode, storage,
          "The model cannot price the incremental node of " + tensor_name(storage.tensor) + " in " +
              report_.name(storage.component) + ": " + why);
    };
    if (!tree_.concurrent.empty()) refuse("the mapping has a pipelined or parallel split.");
    if (const std::string why = why_uneven(storage); !why.empty()) refuse(why);
    for (const BoundAccess& access : einsum_->accesses)
      if (access.tensor == storage.tensor && access.leaves_ranks)
        refuse("the tensor is read outside its ranks.");
    if (storage.tensor != einsum_->accesses.back().tensor) return;
    for_each_storage([&](const NestStorage& above) {
      if (above.tensor != storage.tensor || &above >= &storage ||
          tree_.entries[above.entry].backing || !problem_.arch[above.component].is_memory())
        return;
      const std::string name = report_.name(above.component);
      if (!above.incremental)
        refuse(name +
               " above it writes its whole tile back at the end of each visit, while this "
               "node still holds partial sums.");
      else if (may_stay_below(above, storage))
        refuse("its tile may stay where that of " + name +
               " above it moves on and takes the sums back.");
    });
  }

  /// Whether a step moves the output's tile at one incremental node and not at another further in:
  /// only where windows overlap.
  bool may_stay_below(const NestStorage& above, const NestStorage& storage) const {
    const NestLoop* loops = tree_.loops.data() + nest_->loops_begin;
    const BoundAccess& output = einsum_->accesses.back();
    if (!moves_windows(output, loops, storage.loops_above)) return false;
    return !nest_->perfect || stays_inside(output, loops, above.loops_above, storage.loops_above);
  }

  /// What uneven_refetches does not count, where loops do not divide evenly.
  std::string why_uneven(const NestStorage& storage) const {
    if (nest_->perfect) return {};
    if (crosses_a_network(storage))
      return "a loop does not divide evenly, and it crosses a network.";
    int kept_from = storage.loops_above;
    for_each_storage([&](const NestStorage& other) {
      if (other.tensor == storage.tensor && other.incremental)
        kept_from = std::min(kept_from, other.loops_above);
    });
    for (const BoundAccess& access : einsum_->accesses) {
      if (access.tensor != storage.tensor) continue;
      std::string why = why_no_uneven_refetches(access, tree_.loops.data() + nest_->loops_begin,
                                                storage.loops_above, kept_from);
      if (!why.empty()) return why;
    }
    return {};
  }

  bool crosses_a_network(const NestStorage& storage) const {
    int parent = -1;
    for (const NestStorage* above = &storage;
         above-- != tree_.storages.data() + nest_->storages_begin;)
      if (above->tensor == storage.tensor && problem_.arch[above->component].is_memory()) {
        parent = depth_of(above->component);
        break;
      }
    const std::vector<PathNetwork>& networks = nest_->compute->networks;
    return std::any_of(networks.begin(), networks.end(), [&](const PathNetwork& network) {
      return parent < network.depth && network.depth < depth_of(storage.component);
    });
  }

  /// A copy goes through tolls step by step.
  void check_copied_tolls() {
    if (!problem_.workload[nest_->einsum].is_copy_operation) return;
    for (auto s = nest_->storages_begin; s < nest_->storages_end; ++s) {
      const NestStorage& storage = tree_.storages[s];
      if (storage.incremental && problem_.arch[storage.component].is_toll())
        add(ViolationKind::kUnsupportedNode, tree_.entries[storage.entry].node,
            "The model cannot price the copy " + einsum_name() +
                " through an incremental node of " + report_.name(storage.component) + ".");
    }
  }

  /// Which values repeat is counted for whole tiles of one Einsum only.
  void check_networks() {
    const bool alone = tree_.nests.size() == 1;
    for (const PathNetwork& network : nest_->compute->networks) {
      if (std::get<Network>(problem_.arch[network.network].kind).repeated_values !=
          RepeatedValues::kFree)
        continue;
      std::string why;
      if (!alone)
        why = "the mapping has several Einsums.";
      else if (!nest_->perfect)
        why = "a loop does not divide evenly, or a node slides.";
      else if (has_idle_loop_over(network))
        why = "a spatial loop over its instances takes one step; leave it out.";
      else
        continue;
      add(ViolationKind::kUnsupportedNode, nest_->node,
          "The model cannot price " + report_.name(network.network) +
              " with repeated_values: free: " + why)
          .component = network.network;
    }
  }

  /// Which transfers bring nothing that was seen before is found tile by tile.
  void check_windows_on_networks() {
    constexpr double kMostWork = 0x1p28;
    if (nest_->compute->networks.empty()) return;
    for (const BoundAccess& access : einsum_->accesses)
      if (access.is_output &&
          work_for_new_tiles(access, problem_.workload[nest_->einsum].iteration_space) > kMostWork)
        add(ViolationKind::kUnsupportedNode, nest_->node,
            "The model cannot price windows of so many values of " + tensor_name(access.tensor) +
                " on a network.");
  }

  bool has_idle_loop_over(const PathNetwork& network) const {
    for (auto l = nest_->loops_begin; l < nest_->loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      if (loop.spatial && loop.trips == 1 && loop.component == network.fanned) return true;
    }
    return false;
  }

  void check_backings() {
    for (std::size_t t = 0; t < backed_at_.size(); ++t) {
      const auto tensor = static_cast<int>(t);
      if (!backed_at_[t]) {
        add(ViolationKind::kMissingStorage, nest_->node,
            tensor_name(tensor) + " has no backing storage above the compute of " + einsum_name() +
                ".")
            .tensors = {einsum_->tensors[t]};
        continue;
      }
      for (int l = 0; l < backed_at_[t]->loops_above; ++l) {
        const NestLoop& loop = tree_.loops[nest_->loops_begin + static_cast<std::uint32_t>(l)];
        const Relevance seen = einsum_->relevance[t][static_cast<std::size_t>(loop.variable)];
        if (loop.trips == 1 || cuts_parts(tensor, loop) || seen == Relevance::kRelevant) continue;
        if (seen == Relevance::kPartial && rows_are_shared(tensor, loop) &&
            (!loop.spatial ||  // instances do not pass rows on
             steps_are_apart(problem_, tree_, *nest_, loop, tensor, true)))
          continue;
        if (is_spread_reduction(problem_, tree_, einsum_->tensors[t], loop.node) ||
            is_moved_between(problem_, tree_, *nest_, einsum_->tensors[t], loop) ||
            is_forwarded_below(tree_, einsum_->tensors[t], loop))
          continue;
        add(ViolationKind::kRecomputation, *backed_at_[t],
            "The loop over " + variable_name(loop) + " stands above the backing storage of " +
                tensor_name(tensor) + " in " + report_.name(backed_at_[t]->component) +
                " but does not index it directly.");
      }
      check_overlap(*backed_at_[t]);
    }
  }

  /// Where the tiles of two steps of a loop overlap (a state's slices, a window's rows), what they
  /// have in common must stay: no other loop may bring other tiles in between.
  void check_overlap(const NestStorage& backing) {
    const NestLoop* outer = carrying_loop(problem_, tree_, *nest_, backing);
    if (!outer) return;
    const NestLoop* const end =
        tree_.loops.data() + nest_->loops_begin + static_cast<std::uint32_t>(backing.loops_above);
    for (const NestLoop* loop = outer + 1; loop < end; ++loop) {
      if (loop->spatial || loop->trips == 1 || loop->variable == outer->variable ||
          covers_moved_ranks(problem_, tree_, *nest_, *loop, backing))
        continue;
      add(ViolationKind::kDependency, backing,
          "The loop over " + variable_name(*loop) + " stands between the loop over " +
              variable_name(*outer) + " and the backing storage of " + tensor_name(backing.tensor) +
              " in " + report_.name(backing.component) + "; what two steps over " +
              variable_name(*outer) + " have in common would be lost.");
      return;
    }
  }

  /// Whether a loop above the backing storage of what several Einsums make walks a rank along which
  /// they make different parts, or windows of it: refused.
  bool cuts_parts(int tensor, const NestLoop& loop) {
    const TensorId id = einsum_->tensors[static_cast<std::size_t>(tensor)];
    if (!problem_.roles.has_several_makers(id)) return false;
    const auto variable = static_cast<std::size_t>(loop.variable);
    const bool slides =
        einsum_->relevance[static_cast<std::size_t>(tensor)][variable] == Relevance::kPartial;
    if (!slides && !walks_parts(problem_.workload, problem_.roles, nest_->einsum, id)[variable])
      return false;
    add(ViolationKind::kUnsupportedNode, *backed_at_[static_cast<std::size_t>(tensor)],
        "The model cannot price the loop over " + variable_name(loop) +
            " above the backing storage of " + tensor_name(tensor) +
            ", which several Einsums make: along it they make different parts" +
            (slides ? ", or readers read windows" : "") + ".");
    return true;
  }

  /// A consumer's sliding loop over the rows of an intermediate that is made below the same loop.
  bool rows_are_shared(int tensor, const NestLoop& loop) const {
    const TensorId id = einsum_->tensors[static_cast<std::size_t>(tensor)];
    const std::optional<EinsumId> producer = problem_.roles.sole_maker(id);
    if (!producer || *producer == nest_->einsum) return false;
    const int place = tree_.place_of[producer->index()];
    if (place < 0) return false;
    return loop_at_node(tree_, tree_.nests[static_cast<std::size_t>(place)], loop.node) != nullptr;
  }

  // --- spatial loops
  // ------------------------------------------------------------------------------

  void check_spatial_loops() {
    for_each_loop([&](const NestLoop& loop, int index) {
      if (!loop.spatial) return;
      const int depth = depth_of(loop.component);
      if (depth < 0 || !einsum_->components[loop.component.index()].enabled) {
        if (loop.trips > 1)
          add(ViolationKind::kFanout, loop.node,
              "The spatial loop over " + variable_name(loop) + " uses " +
                  report_.name(loop.component) + ", which is not on the way to " +
                  report_.name(nest_->compute->component) + ".")
              .component = loop.component;
        return;
      }
      if (loop.trips == 1) return;
      check_place_of(loop, index, depth);
      check_reuse(loop);
      check_fanout(loop, index);
    });
  }

  void check_place_of(const NestLoop& loop, int index, int depth) {
    for_each_storage([&](const NestStorage& storage) {
      if (std::get<StorageNode>(node_of(storage)->kind).persistent) return;
      const bool above = storage.loops_above <= index;
      const bool outer = depth_of(storage.component) < depth;
      if (above == outer) return;
      add(ViolationKind::kFanout, storage,
          "The spatial loop over " + variable_name(loop) + " of " + report_.name(loop.component) +
              " stands " + (above ? "below" : "above") + " the storage of " +
              tensor_name(storage.tensor) + " in " + report_.name(storage.component) +
              "; it must stand below the memories before it and above the others.");
    });
  }

  void check_reuse(const NestLoop& loop) {
    const TensorMask reuse = bound_dimension(loop).reuse;
    for (std::size_t t = 0; t < einsum_->tensors.size(); ++t) {
      if (!((reuse >> t) & 1)) continue;
      if (einsum_->relevance[t][static_cast<std::size_t>(loop.variable)] == Relevance::kIrrelevant)
        continue;
      add(ViolationKind::kFanout, loop.node,
          "The dimension " + dimension_name(loop) + " must reuse " +
              tensor_name(static_cast<int>(t)) + ", which the spatial loop over " +
              variable_name(loop) + " indexes.")
          .component = loop.component;
    }
  }

  /// Checked once a dimension: at its first loop.
  void check_fanout(const NestLoop& loop, int index) {
    for (int l = 0; l < index; ++l) {
      const NestLoop& other = tree_.loops[nest_->loops_begin + static_cast<std::uint32_t>(l)];
      if (is_in_dimension_of(loop, other) && other.trips > 1) return;
    }
    const std::int64_t used = last_instance(loop) + 1;
    const Region* region = tree_.region_of(tree_.place(*nest_), loop.component, loop.dimension);
    const std::int64_t most = region ? region->share : bound_dimension(loop).fanout;
    if (used <= most) return;
    add(ViolationKind::kFanout, loop.node,
        "The Einsum " + einsum_name() + " spreads over " +
            with_thousands(static_cast<double>(used)) + " instances in the dimension " +
            dimension_name(loop) + (region ? "; the share of its child is " : "; there are ") +
            with_thousands(static_cast<double>(most)) + ".")
        .component = loop.component;
  }

  static bool is_in_dimension_of(const NestLoop& loop, const NestLoop& other) {
    return other.spatial && other.component == loop.component && other.dimension == loop.dimension;
  }

  /// The last one with work in the dimension of a loop. Loops over one variable leave less for the
  /// inner ones in their last tiles; elsewhere all that is inside has a full tile to share out.
  std::int64_t last_instance(const NestLoop& loop) const {
    std::vector<std::int64_t> extents(problem_.workload[nest_->einsum].iteration_space.size(), 0);
    std::int64_t last = 0;
    for (std::uint32_t l = nest_->loops_begin; l < nest_->loops_end; ++l) {
      const NestLoop& other = tree_.loops[l];
      std::int64_t& extent = extents[static_cast<std::size_t>(other.variable)];
      if (extent == 0) extent = other.enclosing;
      const std::int64_t full = std::min(extent, std::max(other.tile, other.first));
      if (!is_in_dimension_of(loop, other)) {
        extent = full;
        continue;
      }
      const bool is_plain = other.first == 0 && !other.follows;
      const std::int64_t at = (is_plain ? ceil_divide(extent, other.tile) : other.trips) - 1;
      last = checked_add(checked_multiply(last, other.trips), at);
      extent = is_plain ? extent - at * other.tile : full;
    }
    return last;
  }

  const BoundSpatial& bound_dimension(const NestLoop& loop) const {
    return einsum_->components[loop.component.index()].spatial[loop.dimension];
  }
  std::string dimension_name(const NestLoop& loop) const {
    return report_.name(loop.component) + "." +
           problem_.arch[loop.component].spatial[loop.dimension].name;
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const Nest* nest_ = nullptr;
  const BoundEinsum* einsum_ = nullptr;
  std::vector<const NestStorage*> backed_at_;
  std::vector<int> last_depth_;
};

}  // namespace

void check_legality(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  if (report.has(ViolationKind::kUnsupportedNode))
    return;  // what they do, other rules may not know
  NestChecker checker(problem, tree, report);
  for (const Nest& nest : tree.nests) checker.check(nest);
  check_sharing(problem, tree, report);
  check_collectives(problem, tree, report);
  check_concurrent(problem, tree, report);
  check_regions(problem, tree, report);
  check_residents(problem, tree, report);
  check_shares(problem, tree, report);
  check_forwards(problem, tree, report);
}

}  // namespace sluice
