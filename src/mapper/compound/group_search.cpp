#include "group_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "group_constraints.h"
#include "mapper/common/contains.h"
#include "mapper/common/dominance.h"
#include "mapper/request/constraint_check.h"
#include "overlap_bound.h"
#include "part_tree.h"

namespace sluice::compound {
namespace {

/// A nest of one Einsum, with its price below one frame, or a block's nodes.
struct Child {
  std::shared_ptr<const NodeList> nodes;
  PricedPart price;
  double window_s = 0;  ///< likely ones, policy `staged`: its latency in one step of the frame
};

/// Per part of a split: what may stand there.
using Children = std::vector<const std::vector<Child>*>;

class GroupSearch {
 public:
  GroupSearch(const GroupProblem& problem, const MapperOptions& options, const GroupLimits& limits)
      : problem_(problem.whole),
        group_(problem.group),
        homes_(problem.homes),
        options_(options),
        limits_(limits),
        slice_(problem.slice),
        alone_slices_(problem.alone),
        constraints_(constraints_on(options.constraints, problem.group)),
        root_(root_of(problem.whole, {&problem.group})),
        all_(problem.group.size()) {
    for (std::size_t e = 0; e < group_.size(); ++e) {
      single_.push_back({e, e + 1});
      Group alone;
      alone.first = group_.first + e;
      alone.end = alone.first + 1;
      for (TensorId tensor : problem_[alone.einsum(0)].tensors)
        if (!group_.is_internal(tensor) || comes_from_root(alone.einsum(0), tensor))
          alone.external.push_back(tensor);
      alone_roots_.push_back(root_of(problem_, {&alone}));
      alone_constraints_.push_back(
          constraints_alone(options.constraints, problem_, group_, alone.einsum(0)));
      uneven_.push_back(may_be_uneven(problem_, alone.einsum(0), options.imperfect_factors));
    }
  }

  GroupSearch(const GroupSearch&) = delete;  // `may_go_on_` refers to this one
  GroupSearch& operator=(const GroupSearch&) = delete;

  GroupResult run() {
    computes_.assign(group_.size(), 0);
    choose_computes(0);
    return std::move(result_);
  }

 private:
  bool over() const {
    return result_.priced >= limits_.most_priced || is_cancelled(limits_.cancel);
  }

  bool go_on() {
    if (!over()) return true;
    result_.is_complete = false;
    return false;
  }

  /// What others make comes from the outermost memory where an Einsum is priced alone: the same for
  /// all of its nests. Not for a copy out of the group, which would be free there.
  bool comes_from_root(EinsumId einsum, TensorId tensor) const {
    if (problem_.workload[einsum].output().tensor == tensor) return false;
    const Einsum& reader = problem_.workload[einsum];
    return !reader.is_copy_operation || group_.is_internal(reader.output().tensor);
  }

  bool choose_computes(std::size_t e) {
    if (e == group_.size()) return search_below_homes();
    const std::size_t n = problem_[group_.einsum(e)].computes.size();
    for (std::uint32_t c = 0; c < n; ++c) {
      computes_[e] = c;
      if (!choose_computes(e + 1)) return false;
    }
    return true;
  }

  bool search_below_homes() {
    if (group_.size() == 1 && limits_.effort == Effort::kAll) return search_nest();
    FrameStart start = outermost_start(problem_, group_, computes_);
    if (group_.size() > 1) start.most_loops = options_.max_fused_loops;
    std::vector<ComponentId> homes = homes_of(problem_, group_, computes_, start.from);
    // Further in first: most often best, and there may not be time for all.
    std::reverse(homes.begin(), homes.end());
    if (limits_.effort == Effort::kLikely)
      std::erase_if(homes, [&](ComponentId home) { return !could_be_home(home); });
    if (group_.size() == 1)
      std::erase_if(homes, [&](ComponentId home) { return !contains(homes_, home); });
    if (group_.size() == 1 && homes.empty()) return search_nest();
    for (ComponentId home : homes)
      if (!search_below(start, home)) return false;
    for (ComponentId home : homes)
      if (limits_.effort == Effort::kLikely && !search_blocks(start, home)) return false;
    return true;
  }

  /// Whether a memory may keep all internal tensors, as far as that does not depend on others.
  bool could_be_home(ComponentId home) const {
    for (std::size_t e = 0; e < group_.size(); ++e) {
      std::vector<TensorMask> held(problem_.arch.components.size(), 0);
      const KeepSets sets =
          allowed_sets(problem_, options_.constraints, group_.einsum(e), home, held);
      for (TensorId tensor : group_.internal) {
        const int t = problem_[group_.einsum(e)].local_tensor[tensor.index()];
        if (t >= 0 && !((sets.must | sets.may) >> t & 1)) return false;
      }
    }
    return true;
  }

  bool search_below(const FrameStart& start, ComponentId home) {
    return for_each_frame(problem_, options_.constraints, group_, computes_, start, home,
                          limits_.effort, may_go_on_,
                          [this](const Frame& frame) { return search_frame(frame); });
  }

  // ---- frames within frames --------------------------------------------------------------------

  /// Consecutive Einsums first .. end - 1 of the group under a frame of their own.
  struct Block {
    std::size_t first = 0, end = 0;
    std::size_t size() const { return end - first; }
  };
  struct BlockSearch {
    Group group;
    BoundProblem slice;
    std::unique_ptr<GroupSearch> search;
  };
  using BlockKey = std::pair<std::vector<std::int64_t>, std::vector<std::vector<std::string>>>;

  /// Runs of Einsums on one compute, if that is a cut of the group.
  std::vector<Block> runs() const {
    std::vector<Block> blocks;
    for (std::size_t e = 0; e < group_.size(); ++e) {
      const bool goes_on =
          e > 0 && problem_[group_.einsum(e)].computes[computes_[e]].component ==
                       problem_[group_.einsum(e - 1)].computes[computes_[e - 1]].component;
      if (!goes_on) blocks.push_back({e, e});
      blocks.back().end = e + 1;
    }
    return blocks;
  }

  /// Frames whose home holds only what runs of Einsums on different computes exchange; what a run
  /// keeps for itself has a home further in.
  bool search_blocks(const FrameStart& start, ComponentId home) {
    const std::vector<Block> blocks = runs();
    if (blocks.size() < 2 || blocks.size() == group_.size()) return true;
    FrameStart outer = start;
    for (const Block& block : blocks) {
      if (block.size() == 1) continue;
      BlockSearch& inner = block_search(block);
      if (homes_of(problem_, inner.group, inner.search->computes_, home).empty()) return true;
      for (TensorId tensor : inner.group.internal) std::erase(outer.at_home, tensor);
    }
    return for_each_frame(problem_, options_.constraints, group_, computes_, outer, home,
                          limits_.effort, may_go_on_,
                          [&](const Frame& frame) { return search_block_frame(frame, blocks); });
  }

  BlockSearch& block_search(const Block& block) {
    std::unique_ptr<BlockSearch>& found = blocks_[{block.first, block.end}];
    if (!found) {
      found = std::make_unique<BlockSearch>();
      found->group = block_of(problem_, group_, block.first, block.end);
      found->slice = slice(problem_, found->group);
      found->search = std::make_unique<GroupSearch>(
          GroupProblem{problem_, found->group, found->slice, alone_slices_, homes_}, options_,
          limits_);
      found->search->limits_.better = nullptr;
      // What other blocks read stays where the frame around has it.
      std::erase_if(found->search->root_.tensors, [&](TensorId tensor) {
        const auto producer = problem_.roles.sole_maker(tensor);
        return group_.is_internal(tensor) && producer && found->group.has(*producer);
      });
    }
    found->search->computes_.assign(computes_.begin() + static_cast<std::ptrdiff_t>(block.first),
                                    computes_.begin() + static_cast<std::ptrdiff_t>(block.end));
    return *found;
  }

  bool search_block_frame(const Frame& frame, const std::vector<Block>& blocks) {
    Children children;
    for (const Block& block : blocks) {
      children.push_back(block.size() == 1 ? &likely_children(frame, block.first)
                                           : &block_children(frame, block));
      if (children.back()->empty() || is_beaten(frame, SplitKind::kSequential, children))
        return go_on();
    }
    combine_likely(frame, SplitKind::kSequential, children, blocks);
    return go_on();
  }

  /// The best frame of a block below this one, by the objective.
  const std::vector<Child>& block_children(const Frame& frame, const Block& block) {
    static const std::vector<Child> kNobody;
    for (std::size_t e = block.first; e < block.end; ++e)
      if (!frame.complete[e].empty()) return kNobody;
    BlockSearch& inner = block_search(block);
    FrameStart start = start_below(problem_, inner.group, group_, frame, block.first);
    start.most_loops = options_.max_fused_loops;
    BlockKey key{{static_cast<std::int64_t>(block.first), frame.has_steps()}, start.spread};
    key.first.push_back(static_cast<std::int64_t>(frame.home.index()));
    for (std::size_t e = block.first; e < block.end; ++e) {
      key.first.insert(key.first.end(), frame.tiles[e].begin(), frame.tiles[e].end());
      key.first.push_back(static_cast<std::int64_t>(frame.first[e]));
      for (const TensorMask held : frame.held[e])
        key.first.push_back(static_cast<std::int64_t>(held));
    }
    const auto [at, is_new] = block_children_.try_emplace(std::move(key));
    inner.search->limits_.most_priced = limits_.most_priced - result_.priced;
    if (is_new) at->second = inner.search->children_below(std::move(start), frame.nodes.size());
    result_.priced += std::exchange(inner.search->result_.priced, 0);
    return at->second;
  }

  /// Of a block: the best of its frames below `start`; nodes from number `first_node` on are its
  /// own.
  std::vector<Child> children_below(FrameStart start, std::size_t first_node) {
    NodeList outer(start.nodes.begin(),
                   start.nodes.begin() + static_cast<std::ptrdiff_t>(first_node));
    outer = nodes_using(outer, [this](TensorId tensor) {
      for (std::size_t e = 0; e < group_.size(); ++e)
        if (uses(e, tensor)) return true;
      return false;
    });
    const std::size_t n_outer = outer.size();
    outer.insert(outer.end(), start.nodes.begin() + static_cast<std::ptrdiff_t>(first_node),
                 start.nodes.end());
    start.nodes = std::move(outer);
    result_.front.clear();
    for (ComponentId home : homes_of(problem_, group_, computes_, start.from))
      if (!search_below(start, home)) break;
    const auto best = std::min_element(result_.front.begin(), result_.front.end(),
                                       [&](const GroupMapping& a, const GroupMapping& b) {
                                         return value_of(a.cost) < value_of(b.cost);
                                       });
    if (best == result_.front.end()) return {};
    Child child;
    child.nodes = std::make_shared<const NodeList>(
        best->nodes->begin() + static_cast<std::ptrdiff_t>(n_outer), best->nodes->end());
    child.window_s = best->inside_s / start.steps;
    return {std::move(child)};
  }

  bool uses(std::size_t e, TensorId tensor) const {
    return problem_[group_.einsum(e)].local_tensor[tensor.index()] >= 0;
  }

  /// An Einsum alone: everything below the outermost memory is its own.
  bool search_nest() {
    NestRequest request;
    request.einsum = group_.einsum(0);
    request.uneven = uneven_[0];
    request.constraints = &options_.constraints;
    request.divisors = &divisors_;
    request.compute = computes_[0];
    request.home = outermost_memory(problem_, request.einsum, request.compute);
    request.written_as = EinsumId(0);
    for (const VariableRange& range : problem_.workload[request.einsum].iteration_space)
      request.tiles.push_back(range.size);
    request.units = request.tiles;
    request.held.assign(problem_.arch.components.size(), 0);
    request.held[request.home.index()] = all_tensors(0);
    return for_each_nest(problem_, request, limits_.effort, may_go_on_,
                         [this](const NodeList& nodes) {
                           consider(nodes);
                           return go_on();
                         });
  }

  TensorMask all_tensors(std::size_t e) const {
    const std::size_t n = problem_[group_.einsum(e)].tensors.size();
    return n == 64 ? ~TensorMask{0} : (TensorMask{1} << n) - 1;
  }

  // ---- frames ----------------------------------------------------------------------------------

  bool search_frame(const Frame& frame) {
    Children children;
    for (std::size_t e = 0; e < group_.size(); ++e) {
      if (e > 0 && !likely_.contains(key_below(frame, e, false)) && is_beaten(frame, children)) {
        return go_on();
      }
      if (limits_.effort == Effort::kAll) all_[e] = all_children(frame, e);
      children.push_back(limits_.effort == Effort::kAll ? &all_[e] : &likely_children(frame, e));
      if (!limits_.count_only && children.back()->empty()) return go_on();
      if (is_beaten(frame, SplitKind::kPipeline, children)) return go_on();
    }
    if (limits_.count_only) return go_on();
    for (const SplitKind kind : kinds(frame)) {
      if (is_beaten(frame, kind, children)) continue;
      std::vector<const NodeList*> chosen(group_.size());
      if (limits_.effort == Effort::kLikely)
        combine_likely(frame, kind, children, single_);
      else if (!combine(frame, kind, children, 0, &chosen))
        return false;
    }
    return go_on();
  }

  /// The best nest of each Einsum; where they do not fit side by side, ones that need less room.
  void combine_likely(const Frame& frame, SplitKind kind, Children children,
                      const std::vector<Block>& blocks) {
    if (combine_until_legal(frame, kind, children, blocks)) return;
    bool any = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].size() > 1 || !has_neighbours_below(frame.home, blocks[b].first)) continue;
      const std::vector<Child>& smaller = likely_children(frame, blocks[b].first, true);
      any |= !smaller.empty();
      if (!smaller.empty()) children[b] = &smaller;
    }
    if (any) combine_until_legal(frame, kind, children, blocks);
  }

  void keep_by_spread(const GroupMapping& found) {
    std::vector<std::pair<ComponentId, std::uint32_t>> spread;
    for (const Node& node : *found.nodes)
      if (const auto* loop = std::get_if<SpatialNode>(&node.kind))
        spread.emplace_back(loop->component, loop->dimension);
    const auto [at, is_new] = result_.by_spread.try_emplace(std::move(spread), found);
    if (!is_new && value_of(found.cost) < value_of(at->second.cost)) at->second = found;
  }

  double value_of(const PartCost& cost) const {
    return cost.objective(options_.objectives.front());
  }

  /// Likely mappings for latency under `staged`: whether the children alone, without the frame's
  /// fills and drains, already take longer than a known mapping. (As they did below the first frame
  /// that left them these tiles.)
  bool is_beaten(const Frame& frame, SplitKind kind, const Children& children) const {
    const double known_s = known_latency_s();
    if (known_s == kNone || options_.policy != LatencyPolicy::kStaged) return false;
    double window_s = 0;
    for (const std::vector<Child>* list : children) {
      double shortest_s = kNone;
      for (const Child& child : *list) shortest_s = std::min(shortest_s, child.window_s);
      window_s =
          kind == SplitKind::kSequential ? window_s + shortest_s : std::max(window_s, shortest_s);
    }
    return frame.steps * window_s > known_s;
  }

  /// As below, of the first Einsums alone, before nests of the next one are looked for.
  bool is_beaten(const Frame& frame, const Children& children) {
    if (known_latency_s() == kNone) return false;
    std::vector<const NodeList*> chosen;
    for (const std::vector<Child>* list : children) chosen.push_back(list->front().nodes.get());
    const std::vector<Block> first(single_.begin(),
                                   single_.begin() + static_cast<std::ptrdiff_t>(chosen.size()));
    return is_beaten(assemble(frame, kinds(frame).back(), chosen, first), chosen.size());
  }

  /// As above: whether all Einsums, each on its own under `overlap`, do.
  bool is_beaten(const NodeList& nodes) { return is_beaten(nodes, group_.size()); }

  bool is_beaten(const NodeList& nodes, std::size_t n_einsums) {
    const double known_s = known_latency_s();
    if (known_s == kNone || problem_.holds_unlike_boxes ||
        options_.policy == LatencyPolicy::kPipeline)
      return false;
    if (!bound_) bound_.emplace(problem_, group_, alone_slices_, root_);
    const double before = bound_->priced();
    const double least_s = bound_->latency_s(nodes, n_einsums, known_s);
    result_.priced += bound_->priced() - before;
    return least_s > known_s;
  }

  /// The shortest latency known where only this is asked for in a likely search.
  double known_latency_s() const {
    double known_s = kNone;
    if (limits_.effort == Effort::kLikely && options_.objectives.size() == 1 &&
        options_.objectives.front() == Objective::kLatency)
      for (const GroupMapping& known : result_.front)
        known_s = std::min(known_s, known.cost.latency_s());
    return known_s;
  }

  bool combine_until_legal(const Frame& frame, SplitKind kind, const Children& children,
                           const std::vector<Block>& blocks) {
    std::size_t most = 0;
    for (const std::vector<Child>* list : children) most = std::max(most, list->size());
    for (std::size_t rank = 0; rank < most; ++rank) {
      std::vector<const NodeList*> chosen;
      for (const std::vector<Child>* list : children)
        chosen.push_back((*list)[std::min(rank, list->size() - 1)].nodes.get());
      if (consider(assemble(frame, kind, chosen, blocks))) return true;
    }
    return false;
  }

  std::vector<SplitKind> kinds(const Frame& frame) const {
    std::vector<SplitKind> result = {SplitKind::kSequential};
    if (group_.size() == 1 || problem_.holds_unlike_boxes) return result;
    const bool has_collective =
        std::any_of(frame.complete.begin(), frame.complete.end(),
                    [](const std::vector<CollectiveNode>& list) { return !list.empty(); });
    if (frame.has_steps() && !has_collective) result.push_back(SplitKind::kPipeline);
    if (group_.internal.empty()) result.push_back(SplitKind::kParallel);
    return result;
  }

  bool combine(const Frame& frame, SplitKind kind, const Children& children, std::size_t e,
               std::vector<const NodeList*>* chosen) {
    if (e == children.size()) {
      consider(assemble(frame, kind, *chosen, single_));
      return go_on();
    }
    for (const Child& child : *children[e]) {
      (*chosen)[e] = child.nodes.get();
      if (!combine(frame, kind, children, e + 1, chosen)) return false;
    }
    return true;
  }

  /// The frame with one child for each block.
  NodeList assemble(const Frame& frame, SplitKind kind, const std::vector<const NodeList*>& nests,
                    const std::vector<Block>& blocks) const {
    NodeList nodes;
    nodes.reserve(frame.nodes.size() + (group_.size() == 1 ? nests[0]->size() : 1));
    nodes.insert(nodes.end(), frame.nodes.begin(), frame.nodes.end());
    if (group_.size() == 1) {
      nodes.insert(nodes.end(), nests[0]->begin(), nests[0]->end());
      return nodes;
    }
    SplitNode split;
    split.kind = kind;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      split.children.push_back(*nests[b]);
      if (blocks[b].size() > 1) add_offset(&split.children.back(), blocks[b].first);
      for (std::size_t e = blocks[b].first; e < blocks[b].end; ++e)
        for (const CollectiveNode& collective : frame.complete[e])
          split.children.push_back({{collective}});
    }
    nodes.push_back({std::move(split)});
    return nodes;
  }

  /// Prices a mapping of the group, and keeps it if nothing known is better in every way.
  /// False: it is illegal.
  bool consider(NodeList nodes) {
    if (is_beaten(nodes)) return true;
    ++result_.priced;
    if (limits_.count_only) return true;
    Mapping mapping = list_below_root(root_, std::move(nodes));
    const auto priced = price_part(slice_, mapping, options_.policy, Account::kTotals);
    if (!priced || !constraint_violations(constraints_, slice_, mapping).empty()) return false;
    if (!root_.tensors.empty()) mapping.nodes.erase(mapping.nodes.begin());
    GroupMapping found{priced->cost, std::make_shared<const NodeList>(std::move(mapping.nodes)),
                       priced->windows * priced->window_s};
    if (limits_.effort == Effort::kLikely) keep_by_spread(found);
    if (const double value = value_of(found.cost); limits_.better && value < least_) {
      least_ = value;
      limits_.better(found);
    }
    add_mapping(&result_.front, std::move(found));
    return true;
  }

  // ---- nests of one Einsum below a frame -------------------------------------------------------

  NestRequest request_below(const Frame& frame, std::size_t e) {
    NestRequest request;
    request.einsum = group_.einsum(e);
    request.constraints = &options_.constraints;
    request.divisors = &divisors_;
    request.written_as = EinsumId(e);
    request.compute = computes_[e];
    request.home = frame.home;
    request.tiles = request.units = frame.tiles[e];
    request.uneven = uneven_[e];
    const std::vector<VariableRange>& ranges = problem_.workload[group_.einsum(e)].iteration_space;
    for (std::size_t v = 0; v < ranges.size(); ++v)  // loops of the frame are the outermost
      if (request.tiles[v] < ranges[v].size) request.uneven &= ~(std::uint64_t{1} << v);
    request.held = frame.held[e];
    request.first = frame.first[e];
    request.has_steps = frame.has_steps();
    return request;
  }

  /// The nests that no other one beats below this frame, each Einsum on its own: what stands beside
  /// it in the split changes neither the order of their prices nor what they reserve.
  std::vector<Child> all_children(const Frame& frame, std::size_t e) {
    std::vector<Child> front;
    const NodeList above = nodes_for(frame.nodes, e);
    for_each_nest(
        problem_, request_below(frame, e), Effort::kAll, may_go_on_, [&](const NodeList& nodes) {
          ++result_.priced;
          if (limits_.count_only) return go_on();
          if (auto priced = price_alone(above, frame.complete[e], e, nodes, Account::kByComponent))
            add_to_front(&front, Child{std::make_shared<const NodeList>(nodes), std::move(*priced)},
                         [](const Child& child) { return child.price.criteria; });
          return go_on();
        });
    return front;
  }

  /// What tells apart the likely nests of an Einsum below frames.
  std::vector<std::int64_t> key_below(const Frame& frame, std::size_t e, bool halves) const {
    std::vector<std::int64_t> key = {static_cast<std::int64_t>(e),
                                     computes_[e],
                                     static_cast<std::int64_t>(frame.home.index()),
                                     static_cast<std::int64_t>(frame.first[e]),
                                     frame.has_steps(),
                                     static_cast<std::int64_t>(frame.complete[e].size()),
                                     halves};
    key.insert(key.end(), frame.tiles[e].begin(), frame.tiles[e].end());
    for (const TensorMask held : frame.held[e]) key.push_back(static_cast<std::int64_t>(held));
    return key;
  }

  /// Nests that are good by the objective below loops that leave the Einsum the same tiles, the
  /// best one first; the others take less of the memories below home.
  const std::vector<Child>& likely_children(const Frame& frame, std::size_t e,
                                            bool halves = false) {
    const auto [at, is_new] = likely_.try_emplace(key_below(frame, e, halves));
    std::vector<Child>& front = at->second;
    if (!is_new && !front.empty()) return front;
    const NodeList above = nodes_for(frame.nodes, e);
    NestRequest request = request_below(frame, e);
    request.halves = halves;
    const auto add = [&](const NodeList& nodes) {
      ++result_.priced;
      auto priced = price_alone(above, frame.complete[e], e, nodes, Account::kTotals);
      if (!priced) return;
      priced->criteria = {value_of(priced->cost), room_below(frame.home, e, *priced)};
      const double window_s = priced->windows * priced->window_s / frame.steps;
      add_to_front(&front,
                   Child{std::make_shared<const NodeList>(nodes), std::move(*priced), window_s},
                   [](const Child& child) { return child.price.criteria; });
    };
    for_each_nest(problem_, request, Effort::kLikely, may_go_on_, [&](const NodeList& nodes) {
      add(nodes);
      return go_on();
    });
    const std::vector<Child> plain = front;
    for (const Child& child : plain)
      if (const auto kept = with_tiles_that_stay(*child.nodes, frame.home);
          frame.has_steps() && kept)
        add(*kept);
    std::sort(front.begin(), front.end(),
              [](const Child& a, const Child& b) { return a.price.criteria < b.price.criteria; });
    if (front.size() > kMostLikely) front.resize(kMostLikely);
    return front;
  }

  /// The outermost nodes below home keep their tiles for the next step of the frame. Nothing where
  /// there are none.
  std::optional<NodeList> with_tiles_that_stay(const NodeList& nodes, ComponentId home) const {
    NodeList result = nodes;
    std::vector<TensorId> seen;
    bool any = false;
    for (Node& node : result) {
      auto* storage = std::get_if<StorageNode>(&node.kind);
      if (storage == nullptr || storage->component == home ||
          problem_.arch[storage->component].is_toll())
        continue;
      const bool is_first =
          std::none_of(storage->tensors.begin(), storage->tensors.end(), [&](TensorId tensor) {
            return std::find(seen.begin(), seen.end(), tensor) != seen.end();
          });
      seen.insert(seen.end(), storage->tensors.begin(), storage->tensors.end());
      storage->incremental = is_first;
      any |= is_first;
    }
    if (!any) return std::nullopt;
    return result;
  }

  /// Whether other Einsums of the group use memories below home on this one's way.
  bool has_neighbours_below(ComponentId home, std::size_t e) const {
    const BoundCompute& compute = problem_[group_.einsum(e)].computes[computes_[e]];
    if (compute.path.size() < 2 || compute.path[compute.path.size() - 2] == home) return false;
    for (std::size_t other = 0; other < group_.size(); ++other)
      if (other != e &&
          problem_[group_.einsum(other)].computes[computes_[other]].component == compute.component)
        return true;
    return false;
  }

  /// The largest share that the nest takes of a memory below home.
  double room_below(ComponentId home, std::size_t e, const PricedPart& priced) const {
    const BoundEinsum& bound = problem_[group_.einsum(e)];
    const BoundCompute& compute = bound.computes[computes_[e]];
    double share = 0;
    for (ComponentId id : compute.path)
      if (compute.depth[id.index()] > compute.depth[home.index()] && problem_.arch[id].is_memory())
        share =
            std::max(share, priced.peak_bits[id.index()] / bound.components[id.index()].size_bits);
    return share;
  }

  /// The outermost memory's node and the frame's, as one Einsum alone sees them.
  NodeList nodes_for(const NodeList& frame, std::size_t e) const {
    return list_below_root(alone_roots_[e],
                           nodes_using(frame, [&](TensorId tensor) { return uses(e, tensor); }))
        .nodes;
  }

  std::optional<PricedPart> price_alone(const NodeList& above,
                                        const std::vector<CollectiveNode>& complete, std::size_t e,
                                        const NodeList& nest, Account account) {
    Mapping mapping;
    NodeList& nodes = mapping.nodes;
    nodes.reserve(above.size() + (group_.size() == 1 ? nest.size() : 1));
    nodes.insert(nodes.end(), above.begin(), above.end());
    if (group_.size() == 1) {
      nodes.insert(nodes.end(), nest.begin(), nest.end());
    } else {  // below a split, as in the group: its nodes and the frame's are different stages
      SplitNode split;
      split.children.reserve(1 + complete.size());
      split.children.push_back(nest);
      for (const CollectiveNode& collective : complete) split.children.push_back({{collective}});
      nodes.push_back({std::move(split)});
    }
    write_alone(&nodes);
    auto priced = price_part(alone_slices_[group_.first + e], mapping, options_.policy, account);
    if (priced &&
        !constraint_violations(alone_constraints_[e], alone_slices_[group_.first + e], mapping)
             .empty())
      return std::nullopt;
    return priced;
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMostLikely = 4;  ///< nests of one Einsum below one frame

  const BoundProblem& problem_;
  const Group& group_;
  const std::vector<ComponentId>& homes_;
  const MapperOptions& options_;
  GroupLimits limits_;
  const BoundProblem& slice_;
  const std::vector<BoundProblem>& alone_slices_;  ///< per Einsum of the whole problem
  Constraints constraints_;                        ///< of the slice
  StorageNode root_;                               ///< of the outermost memory
  std::optional<OverlapBound> bound_;
  std::vector<Block> single_;  ///< each Einsum on its own
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<BlockSearch>> blocks_;
  std::map<BlockKey, std::vector<Child>> block_children_;
  std::vector<std::vector<Child>> all_;         ///< per Einsum: below the frame looked at
  std::vector<StorageNode> alone_roots_;        ///< per Einsum, of it alone
  std::vector<Constraints> alone_constraints_;  ///< per Einsum
  std::vector<std::uint32_t> computes_;         ///< per Einsum
  std::vector<std::uint64_t> uneven_;           ///< per Einsum: variables with imperfect factors
  std::map<std::vector<std::int64_t>, std::vector<Child>> likely_;
  DivisorMemo divisors_;
  double least_ = kNone;  ///< of all that `better` was called with
  GroupResult result_;
  const std::function<bool()> may_go_on_ = [this] { return go_on(); };
};

}  // namespace

void add_mapping(std::vector<GroupMapping>* front, GroupMapping mapping) {
  add_to_front(front, std::move(mapping), [](const GroupMapping& m) {
    return std::vector<double>{m.cost.energy_j, m.cost.leak_w, m.cost.policy_s, m.cost.overlap_s};
  });
}

GroupResult search_group(const GroupProblem& problem, const MapperOptions& options,
                         const GroupLimits& limits) {
  return GroupSearch(problem, options, limits).run();
}

}  // namespace sluice::compound
