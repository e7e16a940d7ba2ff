#include "oracle/compound/compound_frame.h"

#include <algorithm>
#include <map>

#include "sluice/support/error.h"

namespace sluice::oracle {

ComponentId outermost_memory(const Arch& arch) {
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    if (arch.components[c].is_memory()) return ComponentId(c);
  SLUICE_CHECK(false, "an architecture without a memory");
  return ComponentId(0);
}

namespace {

/// A frame that is being written, from outside in.
struct Frame {
  NodeList nodes;
  std::vector<LeftOver> left;  ///< per Einsum of the group
  std::vector<TensorId> home;  ///< external tensors that stand at home in it
  bool has_temporal = false;
  std::map<std::size_t, std::vector<std::string>> spatial;  ///< dimensions over each class
};

/// Writes every frame of a group with one home, and below each every split.
class FrameWalk {
 public:
  FrameWalk(const BoundProblem& problem, std::size_t begin, std::size_t end,
            const GroupTensors& tensors, ComponentId home, const CompoundLimits& limits,
            std::vector<NodeList>& ways)
      : problem_(problem),
        begin_(begin),
        end_(end),
        tensors_(tensors),
        home_(home),
        path_(path_to(problem.arch, problem[EinsumId(begin)].computes.front().component)),
        limits_(limits),
        ways_(ways) {
    for (const VariableClass& one : classes_of_group(problem.workload, begin, end))
      if (one.usable) classes_.push_back(one);
  }

  void run() {
    Frame frame;
    for (std::size_t e = begin_; e < end_; ++e) frame.left.push_back(whole_ranges(einsum(e)));
    std::size_t place = 0;
    while (path_[place] != outermost_memory(problem_.arch)) ++place;
    walk(place + 1, frame);
  }

 private:
  const Einsum& einsum(std::size_t e) const { return problem_.workload.einsums[e]; }

  void walk(std::size_t place, const Frame& frame) {
    const Component& component = problem_.arch[path_[place]];
    SLUICE_CHECK(!component.is_compute(), "a home is on the path");
    if (component.is_memory())
      memory(place, frame);
    else
      fan_out(place, 0, frame);
  }

  /// (a): in each dimension of a container loops over as many classes as it has instances for.
  void fan_out(std::size_t place, std::size_t dimension, const Frame& frame) {
    const Component& container = problem_.arch[path_[place]];
    if (dimension == container.spatial.size() && container.is_toll())
      toll(place, frame);
    else if (dimension == container.spatial.size())
      walk(place + 1, frame);
    else
      fill(place, dimension, 0, container.spatial[dimension].fanout, frame);
  }

  /// Classes from number `from` on, of at most `room` instances; one that some Einsum sums over
  /// has the dimension alone, because the all_reduce goes over all of it.
  void fill(std::size_t place, std::size_t dimension, std::size_t from, std::int64_t room,
            const Frame& frame) {
    if (from == classes_.size()) {
      fan_out(place, dimension + 1, frame);
      return;
    }
    fill(place, dimension, from + 1, room, frame);
    const bool network =
        place > 0 && std::holds_alternative<Network>(problem_.arch[path_[place - 1]].kind);
    if (!is_spatial_able(classes_[from], network)) return;
    const SpatialDimension& fan = problem_.arch[path_[place]].spatial[dimension];
    const bool is_summed =
        std::any_of(tensors_.internal.begin(), tensors_.internal.end(),
                    [&](TensorId tensor) { return is_reduced(classes_[from], tensor); });
    if (is_summed && room < fan.fanout) return;
    for (std::int64_t trip : trips_of(left_of(frame, from), room)) {
      Frame longer = frame;
      divide(longer, from, trip);
      SpatialNode loop;
      loop.variables = classes_[from].variables;
      loop.tile_shape = left_of(longer, from);
      loop.component = path_[place];
      loop.dimension = static_cast<std::uint32_t>(dimension);
      longer.nodes.push_back({loop});
      longer.spatial[from].push_back(fan.name);
      fill(place, dimension, from + 1, is_summed ? 1 : room / trip, longer);
    }
  }

  /// What passes a toll above the home: external tensors.
  void toll(std::size_t place, const Frame& frame) {
    std::vector<TensorId> must, may;
    for (std::size_t e = begin_; e < end_; ++e) {
      if (einsum(e).is_copy_operation) continue;
      const Keeping keeps = keeping(problem_, EinsumId(e), path_[place]);
      for (TensorId tensor : tensors_.external) {
        if (contains(keeps.must, tensor)) add_once(must, tensor);
        if (contains(keeps.may, tensor)) add_once(may, tensor);
      }
    }
    for (const std::vector<TensorId>& chosen : subsets_of(without(may, must))) {
      std::vector<TensorId> passing = must;
      passing.insert(passing.end(), chosen.begin(), chosen.end());
      Frame longer = frame;
      append_storage(longer.nodes, passing, path_[place]);
      walk(place + 1, longer);
    }
  }

  /// (b), (c), (d): what this memory holds, which of it above the loops, the loops.
  void memory(std::size_t place, const Frame& frame) {
    const ComponentId id = path_[place];
    std::vector<TensorId> must, may;
    if (!external_keeping(id, must, may)) return;
    for (const std::vector<TensorId>& chosen : subsets_of(may)) {
      std::vector<TensorId> held = must;
      held.insert(held.end(), chosen.begin(), chosen.end());
      for (const std::vector<TensorId>& resident : subsets_of(held)) {
        Frame longer = frame;
        append_storage(longer.nodes, resident, id);
        std::vector<TensorId> others = without(held, resident);
        if (id == home_) {
          longer.home = held;
          others.insert(others.end(), tensors_.internal.begin(), tensors_.internal.end());
        }
        loops(place, longer, std::vector<bool>(classes_.size()), !resident.empty(), others);
      }
    }
  }

  void loops(std::size_t place, const Frame& frame, const std::vector<bool>& used, bool needs_one,
             const std::vector<TensorId>& others) {
    if (!needs_one) {
      Frame longer = frame;
      append_storage(longer.nodes, others, path_[place]);
      if (path_[place] == home_)
        split(longer);
      else
        walk(place + 1, longer);
    }
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (used[c] || !is_temporal_able(classes_[c])) continue;
      const std::int64_t left = left_of(frame, c);
      for (std::int64_t trip : trips_of(left, left)) {
        Frame longer = frame;
        divide(longer, c, trip);
        TemporalNode loop;
        loop.variables = classes_[c].variables;
        loop.tile_shape = left_of(longer, c);
        longer.nodes.push_back({loop});
        longer.has_temporal = true;
        std::vector<bool> used_now = used;
        used_now[c] = true;
        loops(place, longer, used_now, false, others);
      }
    }
  }

  /// The external tensors that stand in the frame at a memory: the ones that some Einsum must keep
  /// there, and those that some may. At home, those of one Einsum alone may stand in its child
  /// instead. False: the memory stands above the home and must keep an internal tensor.
  bool external_keeping(ComponentId memory, std::vector<TensorId>& must,
                        std::vector<TensorId>& may) const {
    for (std::size_t e = begin_; e < end_; ++e) {
      const Keeping keeps = keeping(problem_, EinsumId(e), memory);
      for (TensorId tensor : tensors_.internal)
        if (memory != home_ && contains(keeps.must, tensor)) return false;
      for (TensorId tensor : tensors_.external) {
        const bool in_child = memory == home_ && users_of(tensor) == 1;
        if (contains(keeps.must, tensor)) add_once(in_child ? may : must, tensor);
        if (contains(keeps.may, tensor)) add_once(may, tensor);
      }
    }
    may = without(may, must);
    return true;
  }

  static void add_once(std::vector<TensorId>& tensors, TensorId tensor) {
    if (!contains(tensors, tensor)) tensors.push_back(tensor);
  }

  int users_of(TensorId tensor) const {
    int users = 0;
    for (std::size_t e = begin_; e < end_; ++e)
      users += contains(problem_[EinsumId(e)].tensors, tensor) ? 1 : 0;
    return users;
  }

  // --- classes -----------------------------------------------------------------------------------

  /// The place of an Einsum's variable of a class in its iteration space, if it has one.
  std::optional<std::size_t> variable_of(std::size_t e, const VariableClass& one) const {
    const std::vector<VariableRange>& space = einsum(e).iteration_space;
    for (std::size_t v = 0; v < space.size(); ++v)
      if (std::find(one.variables.begin(), one.variables.end(), space[v].variable) !=
          one.variables.end())
        return v;
    return std::nullopt;
  }

  /// Whether every access of a tensor in the group is indexed by a variable of a class alone.
  bool indexes(const VariableClass& one, TensorId tensor) const {
    for (std::size_t e = begin_; e < end_; ++e)
      for (const TensorAccess& access : einsum(e).accesses) {
        if (access.tensor != tensor) continue;
        const auto by_class = [&](const AffineExpression& index) {
          return index.is_plain_variable() &&
                 std::find(one.variables.begin(), one.variables.end(), index.terms[0].variable) !=
                     one.variables.end();
        };
        if (std::none_of(access.projection.begin(), access.projection.end(), by_class))
          return false;
      }
    return true;
  }

  /// Whether the maker of an internal tensor has a variable of the class that does not index it.
  bool is_reduced(const VariableClass& one, TensorId tensor) const {
    const std::size_t maker = problem_.roles.makers[tensor.index()].front().index();
    return variable_of(maker, one).has_value() && !indexes(one, tensor);
  }

  bool is_temporal_able(const VariableClass& one) const {
    return std::all_of(tensors_.internal.begin(), tensors_.internal.end(),
                       [&](TensorId tensor) { return indexes(one, tensor); });
  }

  bool is_spatial_able(const VariableClass& one, bool network) const {
    for (std::size_t e = begin_; e < end_; ++e)
      if (!variable_of(e, one)) return false;
    return std::all_of(tensors_.internal.begin(), tensors_.internal.end(), [&](TensorId tensor) {
      return indexes(one, tensor) || (network && is_reduced(one, tensor));
    });
  }

  /// What is left of a class: the same in every Einsum that has a variable of it.
  std::int64_t left_of(const Frame& frame, std::size_t c) const {
    std::optional<std::int64_t> size;
    for (std::size_t e = begin_; e < end_; ++e)
      if (const auto v = variable_of(e, classes_[c])) {
        const std::int64_t left = frame.left[e - begin_][*v];
        SLUICE_CHECK(!size || *size == left, "variables of a class have one size");
        size = left;
      }
    SLUICE_CHECK(size.has_value(), "a class has variables");
    return *size;
  }

  void divide(Frame& frame, std::size_t c, std::int64_t trip) const {
    for (std::size_t e = begin_; e < end_; ++e)
      if (const auto v = variable_of(e, classes_[c])) frame.left[e - begin_][*v] /= trip;
  }

  // --- below the frame ---------------------------------------------------------------------------

  /// The nests of one Einsum below the home, first those of its own external tensors that stand at
  /// home, but not in the frame.
  std::vector<NodeList> children_of(std::size_t e, const Frame& frame) const {
    const Keeping keeps = keeping(problem_, EinsumId(e), home_);
    std::vector<TensorId> must, may;
    for (TensorId tensor : tensors_.external) {
      if (users_of(tensor) != 1 || contains(frame.home, tensor)) continue;
      if (contains(keeps.must, tensor)) must.push_back(tensor);
      if (contains(keeps.may, tensor)) may.push_back(tensor);
    }
    std::vector<NodeList> children;
    for (const std::vector<TensorId>& chosen : subsets_of(may)) {
      std::vector<TensorId> held = must;
      held.insert(held.end(), chosen.begin(), chosen.end());
      NodeList first;
      append_storage(first, held, home_, problem_[EinsumId(e)]);
      for (NodeList& nest :
           nests_below(problem_, EinsumId(e), home_, frame.left[e - begin_], first, limits_))
        children.push_back(std::move(nest));
      if (static_cast<std::int64_t>(children.size()) > limits_.most) throw TooMany{};
    }
    return children;
  }

  /// The all_reduce that follows an Einsum, if the frame spreads what it reduces.
  std::optional<CollectiveNode> collective_after(std::size_t e, const Frame& frame) const {
    const TensorId made = einsum(e).output().tensor;
    if (!contains(tensors_.internal, made)) return std::nullopt;
    CollectiveNode node;
    node.tensor = made;
    node.op = einsum(e).expression.reduction;
    node.src = node.dst = home_;
    for (ComponentId id : path_)
      for (const SpatialDimension& dimension : problem_.arch[id].spatial)
        for (const auto& [c, names] : frame.spatial)
          if (is_reduced(classes_[c], made) &&
              std::find(names.begin(), names.end(), dimension.name) != names.end())
            node.over.push_back(dimension.name);
    if (node.over.empty()) return std::nullopt;
    return node;
  }

  void split(const Frame& frame) {
    int loops = 0;
    for (const Node& node : frame.nodes)
      loops += std::holds_alternative<StorageNode>(node.kind) ? 0 : 1;
    if (loops > limits_.fused_loops) return;
    std::vector<std::vector<NodeList>> choices;
    std::int64_t product = 1;
    for (std::size_t e = begin_; e < end_; ++e) {
      choices.push_back(children_of(e, frame));
      product *= static_cast<std::int64_t>(choices.back().size());
      if (product > limits_.most) throw TooMany{};
    }
    bool collectives = false;
    for (std::size_t e = begin_; e < end_; ++e)
      collectives |= collective_after(e, frame).has_value();
    std::vector<SplitKind> kinds = {SplitKind::kSequential};
    if (frame.has_temporal && !collectives) kinds.push_back(SplitKind::kPipeline);
    if (tensors_.internal.empty()) kinds.push_back(SplitKind::kParallel);
    for (SplitKind kind : kinds) {
      SplitNode node;
      node.kind = kind;
      add_children(frame, choices, node);
    }
  }

  /// Every choice of the children that are still missing.
  void add_children(const Frame& frame, const std::vector<std::vector<NodeList>>& choices,
                    const SplitNode& node, std::size_t e = 0) {
    if (e == choices.size()) {
      ways_.push_back(frame.nodes);
      ways_.back().push_back({node});
      if (static_cast<std::int64_t>(ways_.size()) > limits_.most) throw TooMany{};
      return;
    }
    const std::optional<CollectiveNode> collective = collective_after(begin_ + e, frame);
    for (const NodeList& child : choices[e]) {
      SplitNode longer = node;
      longer.children.push_back(child);
      if (!collective) add_children(frame, choices, longer, e + 1);
      for (const std::string& algorithm : algorithms_) {
        if (!collective) break;
        SplitNode completed = longer;
        CollectiveNode with = *collective;
        with.algorithm = algorithm;
        completed.children.push_back({{with}});
        add_children(frame, choices, completed, e + 1);
      }
    }
  }

  const BoundProblem& problem_;
  std::size_t begin_, end_;
  const GroupTensors& tensors_;
  ComponentId home_;
  std::vector<ComponentId> path_;
  CompoundLimits limits_;
  std::vector<NodeList>& ways_;
  std::vector<VariableClass> classes_;
  std::vector<std::string> algorithms_ = problem_.algorithms.names();  ///< `auto` is one of these
};

/// Below M0, on the path of every Einsum, and allowed to hold every internal tensor.
bool can_be_home(const BoundProblem& problem, std::size_t begin, std::size_t end,
                 const GroupTensors& tensors, ComponentId memory) {
  if (!problem.arch[memory].is_memory() || memory == outermost_memory(problem.arch)) return false;
  for (std::size_t e = begin; e < end; ++e) {
    const BoundEinsum& einsum = problem[EinsumId(e)];
    const bool on_a_path = std::any_of(
        einsum.computes.begin(), einsum.computes.end(),
        [&](const BoundCompute& compute) { return place_on(compute, memory).has_value(); });
    if (!on_a_path) return false;
    const Keeping keeps = keeping(problem, EinsumId(e), memory);
    for (TensorId tensor : tensors.internal)
      if (contains(einsum.tensors, tensor) && !may_hold(keeps, tensor)) return false;
  }
  return true;
}

}  // namespace

std::vector<NodeList> framed_ways(const BoundProblem& problem, std::size_t begin, std::size_t end,
                                  const GroupTensors& tensors, const CompoundLimits& limits) {
  std::vector<NodeList> ways;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
    const ComponentId home(c);
    if (can_be_home(problem, begin, end, tensors, home))
      FrameWalk(problem, begin, end, tensors, home, limits, ways).run();
  }
  return ways;
}

}  // namespace sluice::oracle
