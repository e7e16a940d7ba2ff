#include "oracle/compound/compound_nest.h"

#include <algorithm>
#include <numeric>

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

/// What is left of a variable's range.
struct Rest {
  std::int64_t size;  ///< of the current tile
  std::int64_t unit;  ///< what the next tile divides
  bool whole;         ///< no loop over it stands further out
  bool uneven;        ///< one does, in tiles of several sizes
};
using Rests = std::vector<Rest>;

/// What the tile of the loop inside an imperfect one over `size` values divides: powers of two, and
/// factors of the size and of the machine's fanouts.
std::int64_t factors_inside(const Arch& arch, std::int64_t size) {
  std::int64_t fanouts = 1, powers = 1;
  for (const Component& component : arch.components)
    for (const SpatialDimension& dimension : component.spatial)
      fanouts = std::lcm(fanouts, dimension.fanout);
  while (powers < size) powers *= 2;
  return powers * size * fanouts;
}

/// Tiles of an imperfect loop over `size` values: with some number that divides `factors` as the
/// tile of the next loop, the smallest of equally many steps.
std::vector<std::int64_t> uneven_tiles_of(std::int64_t size, std::int64_t factors) {
  std::vector<std::int64_t> tiles;
  for (std::int64_t tile = 2; tile < size; ++tile) {
    bool smallest = false;
    for (std::int64_t next = 1; next <= tile; ++next) {
      if (factors % next != 0 || tile % next != 0) continue;
      const std::int64_t smaller = tile - next;
      smallest |= smaller == 0 || (size + smaller - 1) / smaller > (size + tile - 1) / tile;
    }
    if (size % tile != 0 && smallest) tiles.push_back(tile);
  }
  return tiles;
}

/// Writes every nest of one Einsum on one compute, from outside in: those with perfect factors, or
/// those with a loop that has none.
class NestWalk {
 public:
  NestWalk(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
           bool imperfect, std::int64_t most, std::vector<NodeList>& nests)
      : problem_(problem),
        einsum_(einsum),
        space_(problem.workload[einsum].iteration_space),
        compute_(compute),
        imperfect_(imperfect),
        most_(most),
        nests_(nests) {}

  void run(std::size_t place, const LeftOver& left, const NodeList& nodes) {
    Rests rests;
    for (std::size_t v = 0; v < left.size(); ++v)
      rests.push_back({left[v], left[v], imperfect_ && left[v] == space_[v].size, false});
    walk(place, rests, nodes, {});
  }

 private:
  using Places = std::vector<std::size_t>;  ///< containers and tolls since the last memory
  using Continuation = std::function<void(const Rests& left, const NodeList& nodes)>;

  void walk(std::size_t place, const Rests& left, const NodeList& nodes, Places fans) {
    if (place + 1 == compute_.path.size()) {
      finish(left, nodes, fans);
    } else if (problem_.arch[compute_.path[place]].is_memory()) {
      memory(place, left, nodes, fans);
    } else {
      fans.push_back(place);
      walk(place + 1, left, nodes, fans);
    }
  }

  /// What a loop of at most `most` steps leaves of a variable.
  std::vector<Rest> inside(const Rest& rest, std::int64_t most) const {
    std::vector<Rest> result;
    for (std::int64_t trip : trips_of(rest.size, most))
      if (rest.unit % (rest.size / trip) == 0)
        result.push_back({rest.size / trip, rest.size / trip, false, rest.uneven});
    if (!rest.whole) return result;
    const std::int64_t factors = factors_inside(problem_.arch, rest.size);
    for (std::int64_t tile : uneven_tiles_of(rest.size, factors))
      if ((rest.size + tile - 1) / tile <= most)
        result.push_back({tile, std::gcd(tile, factors), false, true});
    return result;
  }

  /// Containers: in each dimension loops over as many variables as it has instances for. Tolls:
  /// what passes stands right below their loops; everything comes from further out.
  void fan_out(const Places& fans, const Rests& left, const NodeList& nodes,
               const Continuation& then) {
    if (fans.empty()) return then(left, nodes);
    dimensions(fans.front(), 0, left, nodes, [&](const Rests& rest, const NodeList& longer) {
      toll(fans.front(), longer, [&](const NodeList& paid) {
        fan_out({fans.begin() + 1, fans.end()}, rest, paid, then);
      });
    });
  }

  void dimensions(std::size_t place, std::size_t dimension, const Rests& left,
                  const NodeList& nodes, const Continuation& then) {
    const Component& container = problem_.arch[compute_.path[place]];
    if (dimension == container.spatial.size()) return then(left, nodes);
    fill({place, dimension}, 0, container.spatial[dimension].fanout, left, nodes,
         [&](const Rests& rest, const NodeList& longer) {
           dimensions(place, dimension + 1, rest, longer, then);
         });
  }

  /// Variables from number `from` on, of at most `room` instances. `at`: place and dimension.
  void fill(const std::pair<std::size_t, std::size_t>& at, std::size_t from, std::int64_t room,
            const Rests& left, const NodeList& nodes, const Continuation& then) {
    if (from == left.size()) return then(left, nodes);
    fill(at, from + 1, room, left, nodes, then);
    for (const Rest& inner : inside(left[from], room)) {
      Rests rest = left;
      rest[from] = inner;
      SpatialNode loop;
      loop.variables = {space_[from].variable};
      loop.tile_shape = inner.size;
      loop.component = compute_.path[at.first];
      loop.dimension = static_cast<std::uint32_t>(at.second);
      NodeList longer = nodes;
      longer.push_back({loop});
      const std::int64_t trips = (left[from].size + inner.size - 1) / inner.size;
      fill(at, from + 1, room / trips, rest, longer, then);
    }
  }

  /// A copy has no nodes below those that back its tensors.
  void toll(std::size_t place, const NodeList& nodes,
            const std::function<void(const NodeList&)>& then) {
    const ComponentId id = compute_.path[place];
    Keeping keeps;
    if (problem_.arch[id].is_toll() && !problem_.workload[einsum_].is_copy_operation)
      keeps = keeping(problem_, einsum_, id);
    for (const std::vector<TensorId>& chosen : subsets_of(keeps.may)) {
      std::vector<TensorId> passing = keeps.must;
      passing.insert(passing.end(), chosen.begin(), chosen.end());
      NodeList longer = nodes;
      append_storage(longer, passing, id, problem_[einsum_]);
      then(longer);
    }
  }

  /// A memory: what it holds, which of it above the loops, the loops.
  void memory(std::size_t place, const Rests& left, const NodeList& nodes, const Places& fans) {
    const Keeping keeps = keeping(problem_, einsum_, compute_.path[place]);
    for (const std::vector<TensorId>& chosen : subsets_of(keeps.may)) {
      std::vector<TensorId> held = keeps.must;
      held.insert(held.end(), chosen.begin(), chosen.end());
      if (held.empty()) {
        walk(place + 1, left, nodes, fans);
        continue;
      }
      for (const std::vector<TensorId>& resident : subsets_of(held))
        level(place, left, nodes, fans, resident, without(held, resident));
    }
  }

  /// Uneven loops are not as good in any order: steps come before instances where no node stands
  /// between them.
  void level(std::size_t place, const Rests& left, const NodeList& nodes, const Places& fans,
             const std::vector<TensorId>& resident, const std::vector<TensorId>& others) {
    const ComponentId id = compute_.path[place];
    const auto below = [&](const Rests& rest, NodeList longer) {
      append_storage(longer, others, id, problem_[einsum_]);
      walk(place + 1, rest, longer, {});
    };
    const std::vector<bool> unused(left.size());
    if (imperfect_ && resident.empty()) {
      loops(left, nodes, unused, false,
            [&](const Rests& rest, const NodeList& longer) { fan_out(fans, rest, longer, below); });
      return;
    }
    fan_out(fans, left, nodes, [&](const Rests& rest, NodeList longer) {
      append_storage(longer, resident, id, problem_[einsum_]);
      loops(rest, longer, unused, !resident.empty(), below);
    });
  }

  /// Temporal loops, at most one a variable, in any order; at least one if `needs_one`.
  void loops(const Rests& left, const NodeList& nodes, const std::vector<bool>& used,
             bool needs_one, const Continuation& then) {
    if (!needs_one) then(left, nodes);
    for (std::size_t v = 0; v < left.size(); ++v) {
      if (used[v]) continue;
      for (const Rest& inner : inside(left[v], left[v].size)) {
        Rests rest = left;
        rest[v] = inner;
        std::vector<bool> used_now = used;
        used_now[v] = true;
        TemporalNode loop;
        loop.variables = {space_[v].variable};
        loop.tile_shape = inner.size;
        NodeList longer = nodes;
        longer.push_back({loop});
        loops(rest, longer, used_now, false, then);
      }
    }
  }

  /// The loops before the compute: all that is left, in any order.
  void finish(const Rests& left, const NodeList& nodes, const Places& fans) {
    const auto keep = [&](const Rests& rest, const NodeList& nest) {
      if (std::any_of(rest.begin(), rest.end(), [](const Rest& r) { return r.size > 1; })) return;
      const bool uneven =
          std::any_of(rest.begin(), rest.end(), [](const Rest& r) { return r.uneven; });
      if (uneven != imperfect_) return;
      nests_.push_back(nest);
      nests_.back().push_back({ComputeNode{einsum_, compute_.component}});
      if (static_cast<std::int64_t>(nests_.size()) > most_) throw TooMany{};
    };
    const std::vector<bool> unused(left.size());
    if (imperfect_)
      loops(left, nodes, unused, false,
            [&](const Rests& rest, const NodeList& longer) { fan_out(fans, rest, longer, keep); });
    else
      fan_out(fans, left, nodes, [&](const Rests& rest, const NodeList& longer) {
        loops(rest, longer, unused, false, keep);
      });
  }

  const BoundProblem& problem_;
  EinsumId einsum_;
  const std::vector<VariableRange>& space_;
  const BoundCompute& compute_;
  bool imperfect_;
  std::int64_t most_;
  std::vector<NodeList>& nests_;
};

}  // namespace

std::vector<NodeList> nests_below(const BoundProblem& problem, EinsumId einsum, ComponentId memory,
                                  const LeftOver& left, const NodeList& first,
                                  const CompoundLimits& limits) {
  std::vector<NodeList> nests;
  for (const BoundCompute& compute : problem[einsum].computes) {
    const auto place = place_on(compute, memory);
    if (!place) continue;
    NestWalk(problem, einsum, compute, false, limits.most, nests).run(*place + 1, left, first);
    if (limits.imperfect)
      NestWalk(problem, einsum, compute, true, limits.most, nests).run(*place + 1, left, first);
  }
  return nests;
}

}  // namespace sluice::oracle
