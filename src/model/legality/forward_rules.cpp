#include "model/legality/forward_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "model/shipment/forward_plan.h"
#include "model/tree/forward_ends.h"
#include "model/tree/lookups.h"

namespace sluice {
namespace {

/// The rules of one forward.
class ForwardChecker {
 public:
  ForwardChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report,
                 const FlatForward& forward)
      : problem_(problem),
        tree_(tree),
        report_(report),
        forward_(forward),
        split_(tree.concurrent[forward.split]) {}

  void check() {
    if (!check_users() || !check_held_above() || !find_ends() || !check_steps()) return;
    if (!check_maker() || !check_way(*maker_)) return;
    for (const ForwardEnd& reader : readers_)
      if (!check_way(reader) || !check_reader(reader)) return;
    if (!check_one_node_a_child()) return;
    if (report_.has(ViolationKind::kFanout)) return;  // there are no such instances
    if (const auto missing = why_no_forward(problem_, tree_, forward_)) {
      refuse("its messages have no way: " + *missing);
      return;
    }
    check_layouts();
  }

 private:
  /// Both are false: nothing else is checked then.
  bool add(ViolationKind kind, const std::string& why) {
    Violation& violation = report_.add(kind, split_.node,
                                       "The forward of " + report_.name(forward_.tensor) + " to " +
                                           report_.name(forward_.memory) + ": " + why);
    violation.tensors = {forward_.tensor};
    violation.component = forward_.memory;
    return false;
  }
  bool refuse(const std::string& why) { return add(ViolationKind::kCollective, why); }
  bool cannot_price(const std::string& what) {
    return add(ViolationKind::kUnsupportedNode, "the model cannot price yet " + what + ".");
  }
  std::string einsum_at(int place) const {
    return "the Einsum " + report_.name(tree_.nests[static_cast<std::size_t>(place)].einsum);
  }
  std::string name_of(const ForwardEnd& end) const {
    return "the Einsum " + report_.name(end.nest().einsum);
  }
  std::string loop_of(const ForwardEnd& end, const NestLoop& loop) const {
    return "the loop over " +
           report_.name(problem_.workload[end.nest().einsum]
                            .iteration_space[static_cast<std::size_t>(loop.variable)]
                            .variable) +
           " of " + name_of(end);
  }

  bool check_users() {
    if (split_.split->kind != SplitKind::kPipeline)
      return refuse("only a pipelined split forwards.");
    if (problem_.roles.has_several_makers(forward_.tensor))
      return refuse("several Einsums make it.");
    if (forward_.maker < 0 || !split_.has(forward_.maker))
      return refuse(forward_.maker < 0 ? "no Einsum makes it."
                                       : einsum_at(forward_.maker) +
                                             ", which makes it, stands outside the split.");
    if (forward_.readers.empty())
      return refuse("no Einsum reads it; a result stays in a memory above the split.");
    for (int reader : forward_.readers)
      if (!split_.has(reader) || split_.stage_of(reader) <= split_.stage_of(forward_.maker))
        return refuse(einsum_at(reader) +
                      " reads it, but does not stand in a child after that of " +
                      einsum_at(forward_.maker) + ".");
    if (!tree_.collectives_on(forward_.tensor).empty())
      return cannot_price("a collective on a tensor that is forwarded");
    return true;
  }

  bool check_held_above() {
    for (std::uint32_t e : split_.held_above)
      if (const TreeEntry& entry = tree_.entries[e];
          entry.tensor == forward_.tensor && problem_.arch[entry.component].is_memory())
        return refuse("a storage node above the split holds it in " +
                      report_.name(entry.component) + "; its children read it there.");
    return true;
  }

  bool find_ends() {
    const auto find = [&](int place) {
      const Nest& nest = tree_.nests[static_cast<std::size_t>(place)];
      if (!nest.compute) return false;  // reported
      const NestStorage* held = backing_of(problem_, tree_, nest, forward_.tensor);
      if (!held || held->component != forward_.memory)
        return refuse("the child of " + einsum_at(place) + " holds it " +
                      (held ? "in " + report_.name(held->component) : std::string("nowhere")) +
                      "; its outermost node there must be in " + report_.name(forward_.memory) +
                      ".");
      if (std::get<StorageNode>(tree_.entries[held->entry].node->kind).persistent ||
          problem_.workload[forward_.tensor].persistent)
        return cannot_price("a persistent tensor");
      ForwardEnd end(problem_, tree_, forward_, nest, *held);
      if (!end.access())
        return cannot_price("that " + einsum_at(place) + " touches it in several ways");
      place == forward_.maker ? maker_.emplace(std::move(end))
                              : readers_.emplace_back(std::move(end));
      return true;
    };
    if (!find(forward_.maker)) return false;
    return std::all_of(forward_.readers.begin(), forward_.readers.end(), find);
  }

  /// What the first steps of the loops above the split need is made in the same step, whether or
  /// not it can be priced.
  bool check_steps() {
    for (const ForwardEnd& reader : readers_)
      for (const Node* node : split_.loops_above) {
        if (!loop_at_node(tree_, maker_->nest(), node)) continue;
        if (!loop_at_node(tree_, reader.nest(), node)) continue;
        for (const bool second : {false, true})
          if (!check_step(reader, node, second)) return false;
      }
    return true;
  }

  bool check_step(const ForwardEnd& reader, const Node* node, bool second) {
    const auto made = maker_->whole_in_step(node, second);
    const auto wanted = reader.whole_in_step(node, second);
    if (!made || !wanted) return true;
    for (std::size_t r = 0; r < made->size(); ++r)
      if ((*wanted)[r].low < (*made)[r].low || (*wanted)[r].high > (*made)[r].high)
        return refuse_step(reader, r, (*wanted)[r], (*made)[r]);
    return true;
  }

  bool refuse_step(const ForwardEnd& reader, std::size_t rank, const IndexRange& wanted,
                   const IndexRange& made) {
    return refuse(name_of(reader) + " needs the indices " + text(wanted) + " of its rank " +
                  rank_name(rank) + " in a step; " + name_of(*maker_) + " makes " + text(made) +
                  ".");
  }

  /// Each value is made by one instance.
  bool check_maker() {
    for (const auto* loops : {&maker_->common_loops(), &maker_->own_loops()})
      for (const NestLoop* loop : *loops) {
        if (!loop->spatial) continue;
        const Relevance seen =
            maker_->access()->relevance[static_cast<std::size_t>(loop->variable)];
        if (seen == Relevance::kIrrelevant)
          return refuse(loop_of(*maker_, *loop) +
                        " spreads its sums over instances above its node there; what is missing is "
                        "a collective that completes them, and no collective can be forwarded "
                        "yet.");
        if (seen != Relevance::kRelevant)
          return cannot_price("that " + loop_of(*maker_, *loop) + " does not index it directly");
      }
    return true;
  }

  bool check_way(const ForwardEnd& end) {
    for (const auto* loops : {&end.common_loops(), &end.own_loops()})
      for (const NestLoop* loop : *loops)
        if (loop->first > 0 || loop->trips * loop->tile != loop->enclosing)
          return cannot_price("that " + loop_of(end, *loop) + " does not divide evenly");
    for (const NestLoop* loop : end.own_loops())
      if (!loop->spatial)
        return cannot_price(loop_of(end, *loop) + ", which stands between the split and its node");
    return true;
  }

  /// Ranks of the tensor that a loop walks.
  std::set<std::size_t> ranks_of(const ForwardEnd& end, const NestLoop& loop) const {
    std::set<std::size_t> ranks;
    for (std::size_t r = 0; r < end.access()->index.size(); ++r)
      for (const BoundTerm& term : end.access()->index[r].terms)
        if (term.variable == loop.variable) ranks.insert(r);
    return ranks;
  }

  /// Makers and readers are at the same step: what the one makes is what the other one needs.
  bool check_reader(const ForwardEnd& reader) {
    std::vector<char> cut(reader.access()->index.size(), 0);
    for (const Node* node : split_.loops_above) {
      const NestLoop* makes = loop_at_node(tree_, maker_->nest(), node);
      const NestLoop* reads = loop_at_node(tree_, reader.nest(), node);
      if (!makes || !reads || (makes->trips == 1 && reads->trips == 1))
        continue;  // repeats: reported
      if (!check_common(reader, *makes, *reads)) return false;
      for (std::size_t r : ranks_of(reader, *reads)) cut[r] = 1;
    }
    const IndexBox made = maker_->whole(), wanted = reader.whole();
    for (std::size_t r = 0; r < cut.size(); ++r)
      if (!cut[r] && (wanted[r].low < made[r].low || wanted[r].high > made[r].high))
        return refuse_step(reader, r, wanted[r], made[r]);
    return true;
  }

  bool check_common(const ForwardEnd& reader, const NestLoop& makes, const NestLoop& reads) {
    const std::set<std::size_t> made = ranks_of(*maker_, makes), read = ranks_of(reader, reads);
    if (made != read)
      return refuse(loop_of(reader, reads) +
                    " above the split does not walk it along the rank of " + name_of(*maker_) +
                    ", so that its steps need other values than are made.");
    if (made.empty()) return true;
    const std::size_t r = *made.begin();
    const auto is_plain = [&](const ForwardEnd& end, const NestLoop& loop) {
      const BoundIndex& index = end.access()->index[r];
      return index.terms.size() == 1 && index.terms[0].coefficient == 1 && index.slack == 0 &&
             end.access()->relevance[static_cast<std::size_t>(loop.variable)] ==
                 Relevance::kRelevant;
    };
    if (made.size() > 1 || !is_plain(*maker_, makes) || !is_plain(reader, reads))
      return cannot_price("that " + loop_of(reader, reads) +
                          " above the split moves it through a window");
    const auto begin = [&](const ForwardEnd& end, const NestLoop& loop) {
      return end.access()->index[r].constant +
             problem_.workload[end.nest().einsum]
                 .iteration_space[static_cast<std::size_t>(loop.variable)]
                 .minimum;
    };
    if (begin(*maker_, makes) == begin(reader, reads) && makes.tile == reads.tile &&
        makes.enclosing == reads.enclosing)
      return true;
    return refuse(loop_of(reader, reads) + " above the split has other tiles of its rank " +
                  rank_name(r) + " than " + name_of(*maker_) + " makes.");
  }

  const std::string& rank_name(std::size_t r) const {
    return problem_.workload[problem_.workload[forward_.tensor].ranks[r]].name;
  }
  static std::string text(const IndexRange& range) {
    return std::to_string(range.low) + " to " + std::to_string(range.high);
  }

  /// Readers in one child share the node that gets the tile.
  bool check_one_node_a_child() {
    for (const ForwardEnd& reader : readers_)
      for (const ForwardEnd& other : readers_) {
        if (&other <= &reader || split_.stage_of(tree_.place(reader.nest())) !=
                                     split_.stage_of(tree_.place(other.nest())))
          continue;
        const std::string both =
            name_of(reader) + " and " + name_of(other) + ", which stand in one child,";
        if (reader.storage().entry != other.storage().entry)
          return cannot_price("that " + both + " have a node of it each");
        bool equal = reader.own_spatial_loops().size() == other.own_spatial_loops().size();
        if (equal)
          for_each_step(reader.own_spatial_loops(), [&](const std::vector<std::int64_t>& steps) {
            equal = equal && reader.tile(steps) == other.tile(steps);
          });
        if (!equal) return cannot_price("that " + both + " need different values of it");
      }
    return true;
  }

  void check_layouts() {
    for (const PathNetwork& path : maker_->nest().compute->networks)
      if (std::get<Network>(problem_.arch[path.network].kind).layout == NodeLayout::kPacked &&
          path.depth < maker_->nest().compute->depth[forward_.memory.index()])
        cannot_price("messages over " + report_.name(path.network) + " with layout: packed");
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
  const FlatForward& forward_;
  const ConcurrentSplit& split_;
  std::optional<ForwardEnd> maker_;
  std::vector<ForwardEnd> readers_;
};

}  // namespace

void check_forwards(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  for (const FlatForward& forward : tree.forwards)
    ForwardChecker(problem, tree, report, forward).check();
}

}  // namespace sluice
