#include "model/tree/shares.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr int kMostLoops = 64;

/// A node with `shared_by` on the way to one Einsum.
class SharedNode {
 public:
  SharedNode(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
             const NestStorage& storage)
      : problem_(problem),
        tree_(tree),
        nest_(nest),
        einsum_(problem[nest.einsum]),
        storage_(storage),
        node_(std::get<StorageNode>(tree.entries[storage.entry].node->kind)) {
    for (ComponentId id : nest.compute->path)
      for (std::uint32_t d = 0; d < problem.arch[id].spatial.size(); ++d)
        if (node_.over && problem.arch[id].spatial[d].name == *node_.over &&
            depth(id) <= depth(storage.component)) {
          container_ = id;
          dimension_ = d;
        }
    const auto& space = problem.workload[nest.einsum].iteration_space;
    for (std::size_t v = 0; v < space.size(); ++v)
      if (node_.along && space[v].variable == *node_.along) along_ = static_cast<int>(v);
    for (const BoundAccess& access : einsum_.accesses)
      if (access.tensor == storage.tensor) access_ = ++n_accesses_ == 1 ? &access : nullptr;
  }

  std::int64_t shared_by() const { return node_.shared_by.value_or(1); }
  int along() const { return along_; }
  const BoundAccess* access() const { return access_; }
  std::optional<ComponentId> container() const { return container_; }
  std::uint32_t dimension() const { return dimension_; }
  const NestLoop& loop(int l) const {
    return tree_.loops[nest_.loops_begin + static_cast<std::uint32_t>(l)];
  }
  int n_loops() const { return static_cast<int>(nest_.loops_end - nest_.loops_begin); }
  Relevance seen(int l) const {
    return access_->relevance[static_cast<std::size_t>(loop(l).variable)];
  }
  bool is_over(int l) const {
    return loop(l).spatial && loop(l).trips > 1 && loop(l).component == container_ &&
           loop(l).dimension == dimension_;
  }
  bool is_peer(int l) const { return is_over(l) && seen(l) == Relevance::kIrrelevant; }
  /// Instances along the dimension that need the same tile.
  std::int64_t peers() const {
    std::int64_t peers = 1;
    for (int l = 0; l < storage_.loops_above; ++l)
      if (is_peer(l)) peers *= loop(l).trips;
    return peers;
  }
  std::uint64_t mask() const {
    std::uint64_t mask = 0;
    for (int l = 0; l < storage_.loops_above; ++l)
      if (is_peer(l)) mask |= std::uint64_t{1} << l;
    return mask;
  }
  /// The first loop of several steps below it; none: n_loops().
  int rotation() const {
    int l = storage_.loops_above;
    while (l < n_loops() && loop(l).trips == 1) ++l;
    return l;
  }
  int depth(ComponentId component) const { return nest_.compute->depth[component.index()]; }

  /// The tile as its loops leave it, along the variable that cuts it.
  std::int64_t whole() const {
    std::int64_t tile =
        problem_.workload[nest_.einsum].iteration_space[static_cast<std::size_t>(along_)].size;
    for (int l = 0; l < storage_.loops_above; ++l)
      if (loop(l).variable == along_) tile = loop(l).tile;
    return tile;
  }

  bool can_share() const {
    return container_ && along_ >= 0 && access_ && !access_->is_output &&
           storage_.loops_above < kMostLoops && whole() % shared_by() == 0 &&
           peers() == shared_by();
  }

 private:
  const BoundProblem& problem_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundEinsum& einsum_;
  const NestStorage& storage_;
  const StorageNode& node_;
  std::optional<ComponentId> container_;
  std::uint32_t dimension_ = 0;
  int along_ = -1;
  int n_accesses_ = 0;
  const BoundAccess* access_ = nullptr;  ///< null where the Einsum touches it in several ways
};

/// The rules of one node, in this order; the first one that is broken is reported.
class ShareChecker {
 public:
  ShareChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
               const Nest& nest, const NestStorage& storage)
      : problem_(problem),
        tree_(tree),
        report_(report),
        nest_(nest),
        storage_(storage),
        entry_(tree.entries[storage.entry]),
        node_(std::get<StorageNode>(entry_.node->kind)),
        shared_(problem, tree, nest, storage) {}

  void check() {
    if (!check_node() || !check_division()) return;
    if (!check_rotation() || !check_way()) return;
    check_others();
  }

 private:
  bool add(ViolationKind kind, const std::string& why) {
    Violation& violation =
        report_.add(kind, entry_.node,
                    "The tile of " + report_.name(entry_.tensor) + " in " +
                        report_.name(entry_.component) + " that peers share: " + why,
                    nest_.einsum);
    violation.tensors = {entry_.tensor};
    violation.component = entry_.component;
    return false;
  }
  bool cannot_price(const std::string& what) {
    return add(ViolationKind::kUnsupportedNode, "the model cannot price " + what + ".");
  }
  std::string along_name() const { return report_.name(*node_.along); }

  bool check_node() {
    if (!node_.over || !shared_.container())
      return add(ViolationKind::kFanout,
                 "`over` must name a spatial dimension above " + report_.name(entry_.component) +
                     ", " + (node_.over ? "not " + *node_.over : std::string("and is missing")) +
                     ".");
    if (!node_.along || shared_.along() < 0)
      return add(ViolationKind::kFanout,
                 "`along` must name a rank variable of " + report_.name(nest_.einsum) + ".");
    if (entry_.backing || problem_.arch[entry_.component].is_toll())
      return cannot_price("it as outermost storage, or in a toll");
    if (!shared_.access() || shared_.access()->is_output)
      return cannot_price("it for what an Einsum writes, or touches in several ways");
    if (node_.sliding || node_.incremental || node_.persistent)
      return cannot_price("it in a node that slides, is incremental or persistent");
    if (entry_.first_user != entry_.last_user || is_recurrent() ||
        problem_.workload[nest_.einsum].is_copy_operation)
      return cannot_price("it for several Einsums, for copies, or in a recurrence");
    if (!nest_.perfect || shared_.n_loops() > kMostLoops)
      return cannot_price("it where loops do not divide evenly, or are more than 64");
    if (shared_.access()->leaves_ranks) return cannot_price("it with padding");
    for (auto s = nest_.storages_begin; s < nest_.storages_end; ++s)
      if (&tree_.storages[s] != &storage_ &&
          std::get<StorageNode>(tree_.entries[tree_.storages[s].entry].node->kind).shared_by)
        return cannot_price("it beside another one");
    const int along = shared_.along();
    if (shared_.access()->relevance[static_cast<std::size_t>(along)] != Relevance::kRelevant)
      return cannot_price("shares along " + along_name() + ", which does not index it directly");
    return true;
  }

  bool is_recurrent() const {
    const int output = problem_[nest_.einsum].accesses.back().tensor;
    return std::count_if(problem_[nest_.einsum].accesses.begin(),
                         problem_[nest_.einsum].accesses.end(),
                         [&](const BoundAccess& access) { return access.tensor == output; }) > 1;
  }

  bool check_division() {
    const std::int64_t k = shared_.shared_by(), peers = shared_.peers(), whole = shared_.whole();
    if (peers % k != 0)
      return add(ViolationKind::kFanout, "shared_by: " + std::to_string(k) +
                                             " does not divide the " + std::to_string(peers) +
                                             " instances along " + *node_.over + " that need it.");
    if (whole % k != 0)
      return add(ViolationKind::kIndivisibleLoop,
                 "shared_by: " + std::to_string(k) + " does not divide its " +
                     std::to_string(whole) + " steps of " + along_name() + ".");
    if (peers != k && k == 1) return cannot_price("shares of one instance; leave shared_by out");
    if (peers != k)
      return cannot_price("groups of " + std::to_string(k) + " of the " + std::to_string(peers) +
                          " peers; write the loop over " + *node_.over +
                          " as two, the inner one of " + std::to_string(k) + " steps");
    bool is_inside = false;
    for (int l = 0; l < storage_.loops_above; ++l) {
      if (is_inside && shared_.is_over(l) && !shared_.is_peer(l))
        return cannot_price("peers that do not stand side by side along " + *node_.over);
      is_inside |= shared_.is_peer(l);
    }
    return true;
  }

  bool check_rotation() {
    if (shared_.shared_by() == 1) return true;
    const int l = shared_.rotation();
    if (l < shared_.n_loops() && !shared_.loop(l).spatial &&
        shared_.loop(l).variable == shared_.along() && shared_.loop(l).trips == shared_.shared_by())
      return std::all_of(tree_.nests.begin(), tree_.nests.end(),
                         [&](const Nest& other) {
                           return &other == &nest_ || !has_loop(other, shared_.loop(l).tree_loop);
                         }) ||
             cannot_price("a loop over " + along_name() + " that other Einsums share");
    return cannot_price("slices fetched on demand: the first loop below must be temporal, over " +
                        along_name() + ", with " + std::to_string(shared_.shared_by()) + " steps");
  }

  bool has_loop(const Nest& nest, std::uint32_t tree_loop) const {
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l)
      if (tree_.loops[l].tree_loop == tree_loop) return true;
    return false;
  }

  const NestStorage* parent() const {
    const NestStorage* parent = nullptr;
    for (auto s = nest_.storages_begin; s < nest_.storages_end; ++s) {
      const NestStorage& other = tree_.storages[s];
      if (&other == &storage_) return parent;
      if (other.tensor == storage_.tensor && problem_.arch[other.component].is_memory())
        parent = &other;
    }
    return parent;
  }

  /// The shares go from instance to instance over one network.
  bool check_way() {
    if (shared_.shared_by() == 1) return true;
    const NestStorage& from = *parent();
    for (int l = 0; l < storage_.loops_above; ++l) {
      if (shared_.is_peer(l) && l < from.loops_above)
        return cannot_price("peers below which its parent stands, too");
      if (shared_.loop(l).spatial && shared_.loop(l).trips > 1 &&
          shared_.depth(shared_.loop(l).component) > shared_.depth(*shared_.container()))
        return cannot_price("peers with instances of their own above its node");
    }
    for (const PathNetwork& network : nest_.compute->networks)
      if (network.depth > shared_.depth(*shared_.container()) &&
          network.depth < shared_.depth(storage_.component))
        return cannot_price("peers with a network of their own above its node");
    for (const PathNetwork& network : nest_.compute->networks) {
      const Network& kind = std::get<Network>(problem_.arch[network.network].kind);
      if (network.fanned != shared_.container() || network.depth < shared_.depth(from.component))
        continue;
      if (kind.topology == Topology::kTree || kind.layout == NodeLayout::kPacked ||
          kind.repeated_values == RepeatedValues::kFree)
        return cannot_price("rotation over " + report_.name(network.network) +
                            ", which is a tree, packed, or has repeated_values: free");
      return true;
    }
    return cannot_price("rotation without a !Network between its parent and " +
                        report_.name(*shared_.container()));
  }

  /// Peers are at different slices at a time: nothing that moves with them can be multicast to them
  /// or reduced.
  void check_others() {
    const int rotation = shared_.rotation();
    for (const BoundAccess& access : problem_[nest_.einsum].accesses) {
      if (access.is_output &&
          access.relevance[static_cast<std::size_t>(shared_.along())] == Relevance::kPartial) {
        cannot_price("that peers write windows along " + along_name() + " in orders of their own");
        return;
      }
      int above = 0;  // loops above the parent
      const auto check_child = [&](int n_loops) {
        const bool moves =
            n_loops > rotation && shared_.shared_by() > 1 &&
            access.relevance[static_cast<std::size_t>(shared_.along())] != Relevance::kIrrelevant;
        for (int l = above; moves && l < storage_.loops_above; ++l)
          if (shared_.is_peer(l) &&
              access.relevance[static_cast<std::size_t>(shared_.loop(l).variable)] ==
                  Relevance::kIrrelevant)
            return cannot_price(
                "that peers at different slices share " +
                report_.name(
                    problem_[nest_.einsum].tensors[static_cast<std::size_t>(access.tensor)]) +
                " below their rotation");
        above = n_loops;
        return true;
      };
      for (auto s = nest_.storages_begin; s < nest_.storages_end; ++s) {
        const NestStorage& other = tree_.storages[s];
        if (other.incremental) {
          cannot_price("it beside incremental nodes");
          return;
        }
        if (other.tensor == access.tensor && !check_child(other.loops_above)) return;
      }
      if (!check_child(shared_.n_loops())) return;
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const Nest& nest_;
  const NestStorage& storage_;
  const TreeEntry& entry_;
  const StorageNode& node_;
  SharedNode shared_;
};

/// Calls `visit(nest, storage)` for every node with `shared_by`.
template <class Tree, class Visit>
void for_each_shared(Tree& tree, const Visit& visit) {
  for (const Nest& nest : tree.nests)
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      const StorageNode& node =
          std::get<StorageNode>(tree.entries[tree.storages[s].entry].node->kind);
      if (nest.compute && (node.shared_by || node.over || node.along))
        visit(nest, tree.storages[s]);
    }
}

}  // namespace

void find_shares(const BoundProblem& problem, FlatTree& tree) {
  for_each_shared(tree, [&](const Nest& nest, NestStorage& storage) {
    const SharedNode shared(problem, tree, nest, storage);
    TreeEntry& entry = tree.entries[storage.entry];
    if (!shared.can_share() || entry.first_user != entry.last_user) return;
    storage.shares = shared.shared_by();
    storage.peers = shared.mask();
    tree.tile_sizes[storage.tiles + static_cast<std::size_t>(shared.along())] =
        shared.whole() / storage.shares;
    entry.bits /= static_cast<double>(storage.shares);
    if (storage.shares > 1) entry.doubled = true;
  });
}

void check_shares(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  for_each_shared(tree, [&](const Nest& nest, const NestStorage& storage) {
    ShareChecker(problem, tree, report, nest, storage).check();
  });
}

}  // namespace sluice
