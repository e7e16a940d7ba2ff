#include "oracle/compound/compound_nest.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::oracle {

LeftOver whole_ranges(const Einsum& einsum) {
  LeftOver left;
  for (const VariableRange& range : einsum.iteration_space) left.push_back(range.size);
  return left;
}

std::vector<std::int64_t> trips_of(std::int64_t size, std::int64_t most) {
  std::vector<std::int64_t> trips;
  for (std::int64_t trip = 2; trip <= std::min(size, most); ++trip)
    if (size % trip == 0) trips.push_back(trip);
  return trips;
}

Keeping keeping(const BoundProblem& problem, EinsumId einsum, ComponentId memory) {
  const std::vector<TensorMask> held(problem.arch.components.size(), 0);
  const auto sets = keep_sets(problem, einsum, memory, held);
  SLUICE_CHECK(sets.has_value(), "keep sets of a bound problem");
  Keeping result;
  const std::vector<TensorId>& tensors = problem[einsum].tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (sets->must >> i & 1)
      result.must.push_back(tensors[i]);
    else if (sets->may >> i & 1)
      result.may.push_back(tensors[i]);
  }
  return result;
}

bool contains(const std::vector<TensorId>& tensors, TensorId tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

bool may_hold(const Keeping& keeping, TensorId tensor) {
  return contains(keeping.must, tensor) || contains(keeping.may, tensor);
}

std::vector<std::vector<TensorId>> subsets_of(const std::vector<TensorId>& tensors) {
  std::vector<std::vector<TensorId>> subsets;
  for (std::uint64_t mask = 0; mask < std::uint64_t{1} << tensors.size(); ++mask) {
    subsets.emplace_back();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (mask >> i & 1) subsets.back().push_back(tensors[i]);
  }
  return subsets;
}

std::vector<TensorId> without(const std::vector<TensorId>& tensors,
                              const std::vector<TensorId>& others) {
  std::vector<TensorId> rest;
  for (TensorId tensor : tensors)
    if (!contains(others, tensor)) rest.push_back(tensor);
  return rest;
}

void append_storage(NodeList& nodes, const std::vector<TensorId>& tensors, ComponentId memory) {
  if (tensors.empty()) return;
  StorageNode storage;
  storage.tensors = tensors;
  std::sort(storage.tensors.begin(), storage.tensors.end());
  storage.component = memory;
  nodes.push_back({storage});
}

void append_storage(NodeList& nodes, const std::vector<TensorId>& tensors, ComponentId memory,
                    const BoundEinsum& einsum) {
  std::vector<TensorId> in_order = einsum.tensors;
  std::erase_if(in_order, [&](TensorId tensor) { return !contains(tensors, tensor); });
  if (in_order.empty()) return;
  append_storage(nodes, in_order, memory);
  std::get<StorageNode>(nodes.back().kind).tensors = in_order;
}

std::optional<std::size_t> place_on(const BoundCompute& compute, ComponentId component) {
  for (std::size_t place = 0; place < compute.path.size(); ++place)
    if (compute.path[place] == component) return place;
  return std::nullopt;
}

namespace {

/// Writes every nest of one Einsum on one compute, from outside in.
class NestWalk {
 public:
  NestWalk(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
           std::int64_t most, std::vector<NodeList>& nests)
      : problem_(problem),
        einsum_(einsum),
        space_(problem.workload[einsum].iteration_space),
        compute_(compute),
        most_(most),
        nests_(nests) {}

  void walk(std::size_t place, const LeftOver& left, const NodeList& nodes) {
    if (place + 1 == compute_.path.size()) {
      finish(left, nodes);
      return;
    }
    const Component& component = problem_.arch[compute_.path[place]];
    if (component.is_memory())
      memory(place, left, nodes);
    else
      fan_out(place, 0, left, nodes);
  }

 private:
  /// A container: in each dimension loops over as many variables as it has instances for.
  void fan_out(std::size_t place, std::size_t dimension, const LeftOver& left,
               const NodeList& nodes) {
    const Component& container = problem_.arch[compute_.path[place]];
    if (dimension == container.spatial.size() && container.is_toll())
      toll(place, left, nodes);
    else if (dimension == container.spatial.size())
      walk(place + 1, left, nodes);
    else
      fill(place, dimension, 0, container.spatial[dimension].fanout, left, nodes);
  }

  /// Variables from number `from` on, of at most `room` instances.
  void fill(std::size_t place, std::size_t dimension, std::size_t from, std::int64_t room,
            const LeftOver& left, const NodeList& nodes) {
    if (from == left.size()) {
      fan_out(place, dimension + 1, left, nodes);
      return;
    }
    fill(place, dimension, from + 1, room, left, nodes);
    for (std::int64_t trip : trips_of(left[from], room)) {
      LeftOver rest = left;
      rest[from] /= trip;
      SpatialNode loop;
      loop.variables = {space_[from].variable};
      loop.tile_shape = rest[from];
      loop.component = compute_.path[place];
      loop.dimension = static_cast<std::uint32_t>(dimension);
      NodeList longer = nodes;
      longer.push_back({loop});
      fill(place, dimension, from + 1, room / trip, rest, longer);
    }
  }

  /// What passes a toll stands right below its own loops: everything comes from further out. A copy
  /// has no nodes below those that back its tensors.
  void toll(std::size_t place, const LeftOver& left, const NodeList& nodes) {
    Keeping keeps;
    if (!problem_.workload[einsum_].is_copy_operation)
      keeps = keeping(problem_, einsum_, compute_.path[place]);
    for (const std::vector<TensorId>& chosen : subsets_of(keeps.may)) {
      std::vector<TensorId> passing = keeps.must;
      passing.insert(passing.end(), chosen.begin(), chosen.end());
      NodeList longer = nodes;
      append_storage(longer, passing, compute_.path[place], problem_[einsum_]);
      walk(place + 1, left, longer);
    }
  }

  /// A memory: what it holds, which of it above the loops, the loops.
  void memory(std::size_t place, const LeftOver& left, const NodeList& nodes) {
    const ComponentId id = compute_.path[place];
    const Keeping keeps = keeping(problem_, einsum_, id);
    for (const std::vector<TensorId>& chosen : subsets_of(keeps.may)) {
      std::vector<TensorId> held = keeps.must;
      held.insert(held.end(), chosen.begin(), chosen.end());
      if (held.empty()) {
        walk(place + 1, left, nodes);
        continue;
      }
      for (const std::vector<TensorId>& resident : subsets_of(held)) {
        NodeList longer = nodes;
        append_storage(longer, resident, id, problem_[einsum_]);
        const std::vector<TensorId> others = without(held, resident);
        loops(left, longer, std::vector<bool>(left.size()), !resident.empty(),
              [&](const LeftOver& rest, NodeList below) {
                append_storage(below, others, id, problem_[einsum_]);
                walk(place + 1, rest, below);
              });
      }
    }
  }

  using Continuation = std::function<void(const LeftOver& left, const NodeList& nodes)>;

  /// Temporal loops, at most one a variable, in any order; at least one if `needs_one`.
  void loops(const LeftOver& left, const NodeList& nodes, const std::vector<bool>& used,
             bool needs_one, const Continuation& then) {
    if (!needs_one) then(left, nodes);
    for (std::size_t v = 0; v < left.size(); ++v) {
      if (used[v]) continue;
      for (std::int64_t trip : trips_of(left[v], left[v])) {
        LeftOver rest = left;
        rest[v] /= trip;
        std::vector<bool> used_now = used;
        used_now[v] = true;
        loops(rest, with_loop(nodes, v, rest[v]), used_now, false, then);
      }
    }
  }

  /// The loops before the compute: all that is left, in any order.
  void finish(const LeftOver& left, const NodeList& nodes) {
    bool done = true;
    for (std::size_t v = 0; v < left.size(); ++v) {
      if (left[v] == 1) continue;
      done = false;
      LeftOver rest = left;
      rest[v] = 1;
      finish(rest, with_loop(nodes, v, 1));
    }
    if (!done) return;
    nests_.push_back(nodes);
    nests_.back().push_back({ComputeNode{einsum_, compute_.component}});
    if (static_cast<std::int64_t>(nests_.size()) > most_) throw TooMany{};
  }

  NodeList with_loop(const NodeList& nodes, std::size_t variable, std::int64_t tile) const {
    TemporalNode loop;
    loop.variables = {space_[variable].variable};
    loop.tile_shape = tile;
    NodeList longer = nodes;
    longer.push_back({loop});
    return longer;
  }

  const BoundProblem& problem_;
  EinsumId einsum_;
  const std::vector<VariableRange>& space_;
  const BoundCompute& compute_;
  std::int64_t most_;
  std::vector<NodeList>& nests_;
};

}  // namespace

std::vector<NodeList> nests_below(const BoundProblem& problem, EinsumId einsum, ComponentId memory,
                                  const LeftOver& left, const NodeList& first, std::int64_t most) {
  std::vector<NodeList> nests;
  for (const BoundCompute& compute : problem[einsum].computes) {
    const auto place = place_on(compute, memory);
    if (place) NestWalk(problem, einsum, compute, most, nests).walk(*place + 1, left, first);
  }
  return nests;
}

}  // namespace sluice::oracle
