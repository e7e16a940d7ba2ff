#include "model/collective_rules.h"

#include <algorithm>
#include <map>

#include "model/collective_plan.h"
#include "model/finish_nests.h"
#include "model/sharing.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

bool is_among(const std::vector<const Node*>& loops, const Node* loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

bool is_above(const FlatCollective& flat, const Node* loop) {
  return is_among(flat.loops_above, loop);
}

std::int64_t instances(const FlatTree& tree, const Nest& nest, int n_loops,
                       FannedDimension dimension) {
  std::int64_t product = 1;
  for (int l = 0; l < n_loops; ++l) {
    const NestLoop& loop = tree.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
    if (loop.spatial && FannedDimension{loop.component, loop.dimension} == dimension)
      product = checked_multiply(product, loop.trips);
  }
  return product;
}

/// Calls `function(loop)` for the loops above the backing storage of what a nest makes that spread
/// its reduction over instances.
template <class Function>
void for_each_spread_reduction(const BoundProblem& problem, const FlatTree& tree, const Nest& maker,
                               Function function) {
  const BoundEinsum& einsum = problem[maker.einsum];
  const TensorId tensor = problem.workload[maker.einsum].output().tensor;
  const NestStorage* backing = backing_of(problem, tree, maker, tensor);
  if (!backing || problem.workload[maker.einsum].is_copy_operation) return;
  for (int l = 0; l < backing->loops_above; ++l) {
    const NestLoop& loop = tree.loops[maker.loops_begin + static_cast<std::uint32_t>(l)];
    if (loop.spatial && loop.trips > 1 &&
        einsum.relevance[static_cast<std::size_t>(backing->tensor)]
                        [static_cast<std::size_t>(loop.variable)] == Relevance::kIrrelevant)
      function(loop);
  }
}

/// The rules of one collective.
class CollectiveChecker {
 public:
  CollectiveChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                    const FlatCollective& flat)
      : problem_(problem), tree_(tree), report_(report), flat_(flat), node_(*flat.collective) {}

  void check() {
    maker_ = nest_of_maker(problem_, tree_, node_.tensor);
    if (!check_maker() || !check_over() || !check_root() || !check_type()) return;
    if (flat_.moves ? !check_move() : !check_memories() || !check_loops() || !check_participants())
      return;
    const auto plan = plan_collective(problem_, tree_, flat_, *maker_);
    if (!plan) {
      refuse("its messages have no way: " + plan.error());
      return;
    }
    if (const auto why = why_no_collective(plan->request, node_.algorithm))
      refuse("it cannot be performed. " + *why);
    else if (node_.op && !plan->combiner)
      refuse("no compute below " + report_.name(node_.dst) + " has the operation to combine with " +
             reduction_name(*node_.op) + ".");
  }

 private:
  bool add(ViolationKind kind, const std::string& why) {
    Violation& violation = report_.add(
        kind, flat_.node,
        "The " + collective_name(node_.type) + " of " + report_.name(node_.tensor) + ": " + why);
    violation.tensors = {node_.tensor};
    violation.component = node_.src;
    return false;
  }
  bool refuse(const std::string& why) { return add(ViolationKind::kCollective, why); }

  bool check_maker() {
    if (!maker_) return refuse("no Einsum makes this tensor.");
    if (!maker_->compute) return false;  // reported
    const int place = tree_.place_of[maker_->einsum.index()];
    if (place < flat_.split_begin || place >= flat_.place)
      return refuse("it must stand in the same split as the Einsum " +
                    report_.name(maker_->einsum) + ", which makes the tensor, and after it.");
    for (EinsumId reader : problem_.roles.consumers[node_.tensor.index()]) {
      const int reads = tree_.place_of[reader.index()];
      if (reads > place && reads < flat_.place)
        return refuse("the Einsum " + report_.name(reader) + " reads the tensor before it.");
    }
    return true;
  }

  bool check_over() {
    if (node_.over.empty()) return refuse("`over` names no spatial dimension.");
    for (std::size_t i = 0; i < node_.over.size(); ++i) {
      const auto dimension = dimension_on_path(problem_.arch, *maker_->compute, node_.over[i]);
      if (!dimension)
        return refuse("the dimension " + node_.over[i] + " is not on the way to " +
                      report_.name(maker_->compute->component) + ".");
      if (std::find(over_.begin(), over_.end(), *dimension) != over_.end())
        return refuse("`over` names the dimension " + node_.over[i] + " twice.");
      over_.push_back(*dimension);
    }
    return true;
  }

  bool check_root() {
    const bool rooted = node_.type == CollectiveType::kBroadcast ||
                        node_.type == CollectiveType::kGather ||
                        node_.type == CollectiveType::kScatter;
    if (!rooted && !node_.root.empty())
      return refuse("only gather, scatter and broadcast have a root.");
    for (const auto& [name, at] : node_.root) {
      const auto dimension = dimension_on_path(problem_.arch, *maker_->compute, name);
      const std::int64_t participants = dimension ? used(*dimension) : 0;
      if (at >= participants)
        return refuse("the root is instance " + std::to_string(at) + " of " + name + "; " +
                      std::to_string(participants) + " take part, counted from 0.");
    }
    return true;
  }

  bool check_type() {
    if (node_.type != CollectiveType::kAllReduce && !flat_.moves)
      return refuse(
          "a storage node above the split holds the tensor; to bring it from where one "
          "child makes it to where others read it, each of them needs one of its own.");
    if (!node_.op) return true;
    const Reduction made = problem_.workload[maker_->einsum].expression.reduction;
    if (node_.op == made) return true;
    return refuse("it combines with " + reduction_name(*node_.op) + ", but the Einsum " +
                  report_.name(maker_->einsum) + " reduces with " + reduction_name(made) + ".");
  }

  bool check_memories() {
    const NestStorage* backing = backing_of(problem_, tree_, *maker_, node_.tensor);
    if (!backing) return false;  // reported
    if (node_.dst != node_.src)
      return refuse(
          "its src and dst differ; every participant ends with the result where its own "
          "part was.");
    if (backing->component != node_.src)
      return refuse("its src is " + report_.name(node_.src) + ", but the tensor is backed in " +
                    report_.name(backing->component) + ".");
    for (int l = 0; l < backing->loops_above; ++l) {
      const NestLoop& loop = tree_.loops[maker_->loops_begin + static_cast<std::uint32_t>(l)];
      if (loop.trips > 1 && !is_above(flat_, loop.node))
        return refuse("the tensor is backed below a loop over " + variable_name(loop) +
                      " that it does not stand below.");
    }
    const int source = depth_of(node_.src);
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (depth_of(over_[i].component) > source)
        return refuse("the dimension " + node_.over[i] + " is below " + report_.name(node_.src) +
                      "; all its instances share one.");
    return true;
  }

  /// What stands above must leave whole, equal parts.
  bool check_loops() {
    for (const Node* node : flat_.loops_above) {
      const NestLoop* loop = loop_at_node(tree_, *maker_, node);
      if (!loop || loop->trips == 1) continue;
      const std::string over = "the loop over " + variable_name(*loop) + " above it ";
      if (loop->first > 0 || loop->trips * loop->tile != loop->enclosing)
        return add(ViolationKind::kUnsupportedNode,
                   over + "does not divide evenly; the model cannot price that.");
      if (!loop->spatial && is_irrelevant(*loop))
        return refuse(over + "goes on reducing: what its steps make is only a part.");
      if (loop->spatial && depth_of(loop->component) > depth_of(node_.src))
        return add(ViolationKind::kUnsupportedNode, over + "spreads over instances below " +
                                                        report_.name(node_.src) +
                                                        "; the model cannot price that.");
    }
    return true;
  }

  bool check_participants() {
    for (std::size_t i = 0; i < over_.size(); ++i) {
      if (used(over_[i]) == 1)
        return refuse("no loop above it spreads over the dimension " + node_.over[i] +
                      "; it has one participant.");
      for (const Node* node : flat_.loops_above) {
        const NestLoop* loop = loop_at_node(tree_, *maker_, node);
        if (!loop || !loop->spatial || loop->trips == 1 || is_irrelevant(*loop) ||
            FannedDimension{loop->component, loop->dimension} != over_[i])
          continue;
        return refuse("the loop over " + variable_name(*loop) + " of the dimension " +
                      node_.over[i] + " gives the participants different tiles of it.");
      }
      for (EinsumId reader : problem_.roles.consumers[node_.tensor.index()])
        if (!check_copies(reader, i)) return false;
    }
    return true;
  }

  /// Only the participants have a copy in the end.
  bool check_copies(EinsumId reader, std::size_t dimension) {
    const int place = tree_.place_of[reader.index()];
    if (place < 0) return true;  // reported
    const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
    std::int64_t readers = 1;
    for (const Node* node : flat_.loops_above) {
      const NestLoop* loop = loop_at_node(tree_, nest, node);
      if (loop && loop->spatial &&
          FannedDimension{loop->component, loop->dimension} == over_[dimension])
        readers = checked_multiply(readers, loop->trips);
    }
    if (readers <= used(over_[dimension])) return true;
    return refuse("the Einsum " + report_.name(reader) + " uses " + std::to_string(readers) +
                  " instances of " + node_.over[dimension] + "; " +
                  std::to_string(used(over_[dimension])) + " take part.");
  }

  // --- from one layout to another
  // ---------------------------------------------------------------

  /// What the loops above a node do in one dimension.
  enum class Spread : std::uint8_t { kNone, kSlices, kCopies, kMixed };
  struct End {
    const Nest* nest = nullptr;
    int loops = 0;  ///< above its node of the tensor
  };

  bool check_move() {
    if (flat_.readers.empty()) return refuse("no Einsum of its split reads the tensor after it.");
    const NestStorage* sent = backing_of(problem_, tree_, *maker_, node_.tensor);
    if (!sent) return false;  // reported
    if (sent->component != node_.src)
      return refuse("its src is " + report_.name(node_.src) + ", but the Einsum " +
                    report_.name(maker_->einsum) + " leaves the tensor in " +
                    report_.name(sent->component) + ".");
    if (depth_of(node_.dst) < 0)
      return add(ViolationKind::kUnsupportedNode,
                 report_.name(node_.dst) + " is not on the way to " +
                     report_.name(maker_->compute->component) + "; the model cannot price that.");
    for (const auto& [name, at] : node_.root)
      if (at != 0)
        return add(ViolationKind::kUnsupportedNode, "a child without loops over " + name +
                                                        " works on its instance 0; another root "
                                                        "cannot be priced.");
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (leaves_something_everywhere() && depth_of(over_[i].component) > depth_of(node_.dst))
        return refuse("the dimension " + node_.over[i] + " is below " + report_.name(node_.dst) +
                      "; all its instances share one, to which a gather would bring it.");
    const End maker{maker_, sent->loops_above};
    if (!check_way(maker)) return false;
    for (const FlatCollective::Reader& at : flat_.readers) {
      const End reader{&tree_.nests[static_cast<std::size_t>(at.place)], at.loops};
      if (!reader.nest->compute) return false;  // reported
      if (!check_reader(reader) || !check_way(reader) || !check_layouts(maker, reader))
        return false;
      if (brings_slices() && slicing(reader, true) != slicing(first_reader(), true))
        return refuse("the Einsums " + report_.name(first_reader().nest->einsum) + " and " +
                      report_.name(reader.nest->einsum) + " slice it differently.");
    }
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (used(over_[i]) == 1)
        return refuse("no loop spreads the tensor over the dimension " + node_.over[i] +
                      "; it has one participant.");
    return true;
  }

  /// Each participant ends with something in a memory of its own.
  bool leaves_something_everywhere() const {
    return node_.type == CollectiveType::kAllReduce || node_.type == CollectiveType::kAllGather ||
           node_.type == CollectiveType::kReduceScatter || node_.type == CollectiveType::kAllToAll;
  }

  bool check_reader(const End& reader) {
    const int place = tree_.place_of[reader.nest->einsum.index()];
    if (place < flat_.place || place >= flat_.split_end)
      return refuse("the Einsum " + report_.name(reader.nest->einsum) +
                    " reads the tensor outside its split.");
    const NestStorage* received = backing_of(problem_, tree_, *reader.nest, node_.tensor);
    if (received->component == node_.dst) return true;
    return refuse("its dst is " + report_.name(node_.dst) + ", but the Einsum " +
                  report_.name(reader.nest->einsum) + " reads the tensor in " +
                  report_.name(received->component) + ".");
  }

  /// Loops between the split and a node of the tensor: only those that the collective undoes.
  bool check_way(const End& end) {
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (loop.trips == 1) continue;
      const std::string text = "the loop over " + variable_name(*end.nest, loop) +
                               " of the Einsum " + report_.name(end.nest->einsum) + " ";
      if (loop.first > 0 || loop.trips * loop.tile != loop.enclosing)
        return add(ViolationKind::kUnsupportedNode,
                   text + "does not divide evenly; the model cannot price that.");
      const bool above = is_above(flat_, loop.node);
      const bool over = loop.spatial && is_over({loop.component, loop.dimension});
      if (!above && !over)
        return refuse(text + "stands between the split and the node of the tensor; " +
                      (loop.spatial ? "`over` does not name its dimension."
                                    : "only spatial loops over the dimensions in `over` may."));
      if (above && !loop.spatial && spread_by(end, loop) == Spread::kCopies)
        return refuse(text + "goes on reducing or repeats it: each of its steps would need all.");
    }
    return true;
  }

  /// Layouts by type: docs/collectives.md.
  bool check_layouts(const End& maker, const End& reader) {
    using T = CollectiveType;
    const bool from_one = node_.type == T::kBroadcast || node_.type == T::kScatter;
    const bool from_parts = node_.type == T::kAllReduce || node_.type == T::kReduceScatter;
    const bool to_slices = brings_slices();
    const Spread made = from_one ? Spread::kNone : from_parts ? Spread::kCopies : Spread::kSlices;
    const std::string read_by = "the Einsum " + report_.name(reader.nest->einsum);
    for (std::size_t i = 0; i < over_.size(); ++i) {
      const std::string where = " in the dimension " + node_.over[i];
      const Spread before = spread_in(maker, over_[i]), after = spread_in(reader, over_[i]);
      if (before != made)
        return refuse("the loops of the Einsum " + report_.name(maker_->einsum) + " leave " +
                      layout(before, true) + where + ", but it takes " + layout(made, true) + ".");
      const bool fits = to_slices ? after == Spread::kSlices
                        : node_.type == T::kGather
                            ? after == Spread::kNone
                            : after == Spread::kNone || after == Spread::kCopies;
      if (!fits)
        return refuse("the loops of " + read_by + " want " + layout(after, false) + where +
                      ", but it brings " +
                      layout(to_slices                  ? Spread::kSlices
                             : node_.type == T::kGather ? Spread::kNone
                                                        : Spread::kCopies,
                             false) +
                      ".");
      const std::int64_t participants = from_one ? used(over_[i]) : instances_of(maker, over_[i]);
      const std::int64_t mine = instances_of(reader, over_[i]);
      if (to_slices && mine != participants)
        return refuse(read_by + " uses " + std::to_string(mine) + " instances of " + node_.over[i] +
                      "; " + std::to_string(participants) + " take part.");
      if (!from_one && mine > participants)
        return refuse(read_by + " uses " + std::to_string(mine) + " instances of " + node_.over[i] +
                      "; it brings the tensor to " + std::to_string(participants) + ".");
    }
    if (!is_read_as_made(maker, reader))
      return add(ViolationKind::kUnsupportedNode,
                 read_by + " reads other values than are made; the model cannot price that.");
    if (node_.type != T::kAllToAll) return true;
    if (slicing(maker, false).size() > 1 || slicing(reader, true).size() > 1)
      return refuse("an instance has no equal part for each other one: the loops of the Einsum " +
                    report_.name(maker_->einsum) + " or of " + read_by +
                    " slice it along several ranks.");
    if (slicing(maker, false).begin()->first == slicing(reader, true).begin()->first)
      return refuse(read_by + " slices the rank that is sliced already; nothing is to be brought.");
    return true;
  }

  bool brings_slices() const {
    return node_.type == CollectiveType::kReduceScatter || node_.type == CollectiveType::kScatter ||
           node_.type == CollectiveType::kAllToAll;
  }
  End first_reader() const {
    const FlatCollective::Reader& first = flat_.readers.front();
    return {&tree_.nests[static_cast<std::size_t>(first.place)], first.loops};
  }

  static std::string layout(Spread spread, bool made) {
    switch (spread) {
      case Spread::kNone:
        return "all of it at one instance";
      case Spread::kSlices:
        return "a slice at each instance";
      case Spread::kCopies:
        return made ? "a part of the sums at each instance" : "a copy at each instance";
      case Spread::kMixed:
        return "slices as well as copies";
    }
    return "";
  }

  const NestLoop& loop_of(const End& end, int l) const {
    return tree_.loops[end.nest->loops_begin + static_cast<std::uint32_t>(l)];
  }
  bool is_over(FannedDimension dimension) const {
    return std::find(over_.begin(), over_.end(), dimension) != over_.end();
  }
  Spread spread_by(const End& end, const NestLoop& loop) const {
    const BoundEinsum& einsum = problem_[end.nest->einsum];
    const auto local = static_cast<std::size_t>(einsum.local_tensor[node_.tensor.index()]);
    switch (einsum.relevance[local][static_cast<std::size_t>(loop.variable)]) {
      case Relevance::kRelevant:
        return Spread::kSlices;
      case Relevance::kIrrelevant:
        return Spread::kCopies;
      case Relevance::kPartial:
        break;
    }
    return Spread::kMixed;
  }
  Spread spread_in(const End& end, FannedDimension dimension) const {
    Spread found = Spread::kNone;
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || loop.trips == 1 ||
          FannedDimension{loop.component, loop.dimension} != dimension)
        continue;
      const Spread spread = spread_by(end, loop);
      found = found == Spread::kNone || found == spread ? spread : Spread::kMixed;
    }
    return found;
  }
  std::int64_t instances_of(const End& end, FannedDimension dimension) const {
    return instances(tree_, *end.nest, end.loops, dimension);
  }
  const BoundAccess& access_of(const End& end, bool reads) const {
    const BoundEinsum& einsum = problem_[end.nest->einsum];
    const int local = einsum.local_tensor[node_.tensor.index()];
    for (const BoundAccess& access : einsum.accesses)
      if (access.tensor == local && access.is_output != reads) return access;
    return einsum.accesses.back();
  }
  /// The sizes of the variables below the split, over all instances of `over`.
  std::vector<std::int64_t> whole_tiles(const End& end) const {
    std::vector<std::int64_t> tiles;
    for (const VariableRange& range : problem_.workload[end.nest->einsum].iteration_space)
      tiles.push_back(range.size);
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || !is_over({loop.component, loop.dimension}))
        tiles[static_cast<std::size_t>(loop.variable)] /= loop.trips;
    }
    return tiles;
  }
  /// Whether the reader wants just the values that there are below the split.
  bool is_read_as_made(const End& maker, const End& reader) const {
    const BoundEinsum& einsum = problem_[reader.nest->einsum];
    const BoundAccess& made = access_of(maker, false);
    const std::vector<std::int64_t> made_tiles = whole_tiles(maker), tiles = whole_tiles(reader);
    for (const BoundAccess& read : einsum.accesses) {
      if (read.tensor != einsum.local_tensor[node_.tensor.index()] || read.is_output) continue;
      for (std::size_t r = 0; r < read.index.size(); ++r)
        if (read.index[r].constant != made.index[r].constant ||
            tile_extent(read.index[r], tiles.data()) !=
                tile_extent(made.index[r], made_tiles.data()))
          return false;
    }
    return true;
  }
  /// Per rank of the tensor: the dimensions of `over` and how often their loops cut it, outermost
  /// first.
  using Slicing = std::map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>>;
  Slicing slicing(const End& end, bool reads) const {
    Slicing found;
    const BoundAccess& access = access_of(end, reads);
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || loop.trips == 1) continue;
      const auto dimension =
          std::find(over_.begin(), over_.end(), FannedDimension{loop.component, loop.dimension});
      if (dimension == over_.end()) continue;
      for (std::size_t r = 0; r < access.index.size(); ++r)
        for (const BoundTerm& term : access.index[r].terms)
          if (term.variable == loop.variable)
            found[r].emplace_back(static_cast<std::size_t>(dimension - over_.begin()), loop.trips);
    }
    return found;
  }

  // --- both
  // -------------------------------------------------------------------------------------

  std::int64_t used(FannedDimension dimension) const {
    return instances_used(tree_, flat_, *maker_, dimension);
  }
  bool is_irrelevant(const NestLoop& loop) const {
    const BoundEinsum& einsum = problem_[maker_->einsum];
    const int local = einsum.local_tensor[node_.tensor.index()];
    return einsum.relevance[static_cast<std::size_t>(local)]
                           [static_cast<std::size_t>(loop.variable)] == Relevance::kIrrelevant;
  }
  const std::string& variable_name(const NestLoop& loop) const {
    return variable_name(*maker_, loop);
  }
  const std::string& variable_name(const Nest& nest, const NestLoop& loop) const {
    return report_.name(problem_.workload[nest.einsum]
                            .iteration_space[static_cast<std::size_t>(loop.variable)]
                            .variable);
  }
  int depth_of(ComponentId component) const { return maker_->compute->depth[component.index()]; }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const FlatCollective& flat_;
  const CollectiveNode& node_;
  const Nest* maker_ = nullptr;
  std::vector<FannedDimension> over_;
};

/// How many collectives complete the sums that a loop spreads.
int completing(const BoundProblem& problem, const FlatTree& tree, const Nest& maker,
               const NestLoop& loop) {
  const TensorId tensor = problem.workload[maker.einsum].output().tensor;
  int found = 0;
  for (const FlatCollective& flat : tree.collectives) {
    if (flat.collective->tensor != tensor || !is_among(flat.maker_loops, loop.node)) continue;
    for (const std::string& name : flat.collective->over)
      if (dimension_on_path(problem.arch, *maker.compute, name) ==
          FannedDimension{loop.component, loop.dimension})
        ++found;
  }
  return found;
}

/// Says which collective is missing, and where it belongs.
void check_completeness(const BoundProblem& problem, const FlatTree& tree, const Nest& maker,
                        ViolationReport& report) {
  const Einsum& einsum = problem.workload[maker.einsum];
  const TensorId tensor = einsum.output().tensor;
  std::vector<std::string> lacking;
  std::string missing, twice;
  for_each_spread_reduction(problem, tree, maker, [&](const NestLoop& loop) {
    const std::string& name = problem.arch[loop.component].spatial[loop.dimension].name;
    const int found = completing(problem, tree, maker, loop);
    if (found == 0 && std::find(lacking.begin(), lacking.end(), name) == lacking.end()) {
      missing += (missing.empty() ? "" : ", ") + name;
      lacking.push_back(name);
    }
    if (found > 1) twice = name;
  });
  if (!twice.empty())
    report.add(
        ViolationKind::kCollective, maker.node,
        "Two collectives reduce " + report.name(tensor) + " over the dimension " + twice + ".",
        maker.einsum);
  if (missing.empty()) return;
  const NestStorage* backing = backing_of(problem, tree, maker, tensor);
  Violation& violation = report.add(
      ViolationKind::kCollective, tree.entries[backing->entry].node,
      "Each instance of " + missing + " holds only a part of " + report.name(tensor) + " in " +
          report.name(backing->component) + ": the reduction of the Einsum " + einsum.name +
          " is spread above it. Missing in the split, after the Einsum " + einsum.name +
          ": !Collective {type: all_reduce, tensor: " + report.name(tensor) +
          ", op: " + reduction_name(einsum.expression.reduction) +
          ", src: " + report.name(backing->component) + ", over: [" + missing + "]}.",
      maker.einsum);
  violation.component = backing->component;
  violation.tensors = {tensor};
}

}  // namespace

std::int64_t instances_used(const FlatTree& tree, const FlatCollective& flat, const Nest& maker,
                            FannedDimension dimension) {
  std::int64_t product = 1;
  for (const Node* node : flat.maker_loops) {
    const NestLoop* loop = loop_at_node(tree, maker, node);
    if (loop && loop->spatial && FannedDimension{loop->component, loop->dimension} == dimension)
      product = checked_multiply(product, loop->trips);
  }
  for (const FlatCollective::Reader& reader : flat.readers)
    product = std::max(product, instances(tree, tree.nests[static_cast<std::size_t>(reader.place)],
                                          reader.loops, dimension));
  return product;
}

const FlatCollective* mover_of(const FlatTree& tree, TensorId tensor) {
  for (const FlatCollective& flat : tree.collectives)
    if (flat.moves && flat.collective->tensor == tensor) return &flat;
  return nullptr;
}

bool is_moved_between(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                      TensorId tensor, const NestLoop& loop) {
  const FlatCollective* mover = mover_of(tree, tensor);
  if (!mover || !loop.spatial || !nest.compute) return false;
  for (const std::string& name : mover->collective->over)
    if (dimension_on_path(problem.arch, *nest.compute, name) ==
        FannedDimension{loop.component, loop.dimension})
      return true;
  return false;
}

std::optional<FannedDimension> dimension_on_path(const Arch& arch, const BoundCompute& compute,
                                                 const std::string& name) {
  for (ComponentId component : compute.path)
    for (std::uint32_t d = 0; d < arch[component].spatial.size(); ++d)
      if (arch[component].spatial[d].name == name) return FannedDimension{component, d};
  return std::nullopt;
}

const Nest* nest_of_maker(const BoundProblem& problem, const FlatTree& tree, TensorId tensor) {
  const std::optional<EinsumId> producer = problem.roles.producer[tensor.index()];
  if (!producer) return nullptr;
  const int place = tree.place_of[producer->index()];
  if (place < 0 || static_cast<std::size_t>(place) >= tree.nests.size()) return nullptr;
  return &tree.nests[static_cast<std::size_t>(place)];
}

bool is_spread_reduction(const BoundProblem& problem, const FlatTree& tree, TensorId tensor,
                         const Node* loop) {
  const Nest* maker = nest_of_maker(problem, tree, tensor);
  bool found = false;
  if (maker)
    for_each_spread_reduction(problem, tree, *maker,
                              [&](const NestLoop& spread) { found |= spread.node == loop; });
  return found;
}

void check_collectives(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  for (const FlatCollective& flat : tree.collectives)
    CollectiveChecker(problem, tree, report, flat).check();
  for (const Nest& nest : tree.nests)
    if (nest.compute) check_completeness(problem, tree, nest, report);
}

}  // namespace sluice
