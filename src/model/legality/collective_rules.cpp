#include "model/legality/collective_rules.h"

#include <algorithm>

#include "model/legality/collective_subject.h"
#include "model/shipment/collective_plan.h"
#include "model/tree/finish_nests.h"
#include "model/tree/lookups.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

bool is_among(const std::vector<const Node*>& loops, const Node* loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
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
class CollectiveChecker : CollectiveSubject {
 public:
  using CollectiveSubject::CollectiveSubject;

  void check() {
    maker_ = nest_of_maker(problem_, tree_, node_.tensor);
    if (!check_maker() || !check_over() || !check_root() || !check_type()) return;
    if (flat_.moves ? !check_move(*this)
                    : !check_memories() || !check_loops() || !check_participants())
      return;
    const auto plan = plan_collective(problem_, tree_, flat_, *maker_);
    if (!plan) {
      refuse("its messages have no way: " + plan.error());
      return;
    }
    if (const auto why = why_no_collective(plan->request, node_.algorithm, problem_.algorithms))
      refuse("it cannot be performed. " + *why);
    else if (node_.op && !plan->combiner)
      refuse("no compute below " + report_.name(node_.dst) + " has the operation to combine with " +
             reduction_name(*node_.op) + ".");
  }

 private:
  bool check_maker() {
    if (problem_.roles.has_several_makers(node_.tensor))
      return refuse("several Einsums make this tensor.");
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
      if (loop.trips > 1 && !is_above(loop.node))
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
      if (!loop || !loop->spatial ||
          FannedDimension{loop->component, loop->dimension} != over_[dimension])
        continue;
      if (loop->first > 0 || loop->trips * loop->tile != loop->enclosing)
        return add(ViolationKind::kUnsupportedNode,
                   "the loop over " + variable_name(nest, *loop) + " of the Einsum " +
                       report_.name(reader) +
                       " above it does not divide evenly; the model cannot price that.");
      readers = checked_multiply(readers, loop->trips);
    }
    if (readers <= used(over_[dimension])) return true;
    return refuse("the Einsum " + report_.name(reader) + " uses " + std::to_string(readers) +
                  " instances of " + node_.over[dimension] + "; " +
                  std::to_string(used(over_[dimension])) + " take part.");
  }
};

/// How many collectives complete the sums that a loop spreads.
int completing(const BoundProblem& problem, const FlatTree& tree, const Nest& maker,
               const NestLoop& loop) {
  const TensorId tensor = problem.workload[maker.einsum].output().tensor;
  int found = 0;
  for (std::uint32_t index : tree.collectives_on(tensor)) {
    const FlatCollective& flat = tree.collectives[index];
    if (!is_among(flat.maker_loops, loop.node)) continue;
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
    if (nest.compute && !forward_of(tree, problem.workload[nest.einsum].output().tensor))
      check_completeness(problem, tree, nest, report);
}

}  // namespace sluice
