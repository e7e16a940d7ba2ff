#include "sluice/model/relaxed_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "compute_bound.h"
#include "fanout_use.h"
#include "iteration_counts.h"
#include "operand_costs.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

/// The outermost memory, where it is one instance that every Einsum has, whatever others hold.
std::optional<ComponentId> single_outermost(const BoundProblem& problem) {
  const std::optional<ComponentId> memory = outermost_memory(problem.arch);
  if (!memory) return std::nullopt;
  for (const BoundEinsum& einsum : problem.einsums) {
    const BoundComponent& bound = einsum.components[memory->index()];
    if (!bound.enabled || bound.instances != 1 || !bound.keep.depends_on.empty() ||
        !bound.may_keep.depends_on.empty() || !bound.back.depends_on.empty())
      return std::nullopt;
  }
  return memory;
}

int depth_of(const BoundCompute& compute, ComponentId component) {
  return compute.depth[component.index()];
}

/// The share of what lies inside the cut that spatial loops can use at the same time.
double use_inside(const std::vector<double>& use, const BoundCompute& compute, ComponentId cut) {
  return use[static_cast<std::size_t>(depth_of(compute, cut)) + 1];
}

/// Whether all Einsums pass the component at the same place on all ways to their computes.
bool is_common(const BoundProblem& problem, ComponentId component, int depth) {
  return std::all_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return own.components[component.index()].enabled &&
           std::all_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
             return depth_of(compute, component) == depth;
           });
  });
}

bool is_array(const Component& component) {
  const auto* container = std::get_if<Container>(&component.kind);
  return container != nullptr && container->array;
}

bool spreads(const BoundComponent& component) {
  return std::any_of(component.spatial.begin(), component.spatial.end(),
                     [](const BoundSpatial& dimension) { return dimension.fanout > 1; });
}

/// Whether there is more inside the cut than one memory, so that a relaxed machine has less.
bool has_much_inside(const BoundProblem& problem, ComponentId cut) {
  const auto adds = [&](const BoundEinsum& own, ComponentId id) {
    return (problem.arch[id].is_memory() ? 1 : 0) + (spreads(own.components[id.index()]) ? 1 : 0);
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return std::any_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
      int n = 0;
      for (auto p = static_cast<std::size_t>(depth_of(compute, cut)) + 1; p < compute.path.size();
           ++p)
        n += adds(own, compute.path[p]);
      return n > 1;
    });
  });
}

/// Calls `body` with every memory inside the cut that an Einsum can use, and the share of its
/// instances below one of the cut's that it can use at the same time.
template <class Body>
void for_each_inner_memory(const BoundProblem& problem, EinsumId id, ComponentId cut,
                           const Body& body) {
  for (const BoundCompute& compute : problem[id].computes) {
    const std::vector<double> use = largest_use_inside(problem, id, compute, Factors::kPerfect);
    for (std::size_t p = 0; p < compute.path.size(); ++p) {
      const ComponentId memory = compute.path[p];
      if (static_cast<int>(p) <= depth_of(compute, cut) || !problem.arch[memory].is_memory())
        continue;
      if (problem[id].components[memory.index()].enabled)
        body(memory, use_inside(use, compute, cut) / use[p + 1]);
    }
  }
}

/// Whether several instances may make overlapping windows of an output, which a memory merges
/// without handing sums back: one compute, as a relaxed machine has, would ask for them.
bool merges_windows(const BoundProblem& problem, ComponentId cut) {
  const auto has_several = [&](const BoundEinsum& einsum, const BoundCompute& compute) {
    return std::any_of(compute.path.begin() + depth_of(compute, cut) + 1, compute.path.end(),
                       [&](ComponentId id) { return spreads(einsum.components[id.index()]); });
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return std::any_of(
               own.accesses.begin(), own.accesses.end(),
               [](const BoundAccess& access) { return access.is_output && has_windows(access); }) &&
           std::any_of(own.computes.begin(), own.computes.end(),
                       [&](const BoundCompute& compute) { return has_several(own, compute); });
  });
}

/// What lies inside a cut, as rooms. Of a tensor's tiles there, the outermost one decides what
/// passes the cut: its room is made of the memories that may hold that one, and of the computes, if
/// it may come from outside. Tensors that may be in the same memory share a room.
class Rooms {
 public:
  Rooms(const BoundProblem& problem, ComponentId cut)
      : problem_(problem), cut_(cut), room_(problem.arch.components.size() + 1) {
    std::iota(room_.begin(), room_.end(), std::size_t{0});
    is_used_.resize(room_.size(), 0);
    for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
      std::vector<Places>& own = places_.emplace_back();
      for (std::size_t t = 0; t < problem.einsums[e].tensors.size(); ++t) {
        own.push_back(find_places(e, t));
        join(own.back());
      }
    }
    measure();
    for (std::size_t place = 0; place < room_.size(); ++place)
      if (is_used_[place] != 0 && root(place) == place) roots_.push_back(place);
    // From the outside in, by their outermost memory; the computes last.
    std::sort(roots_.begin(), roots_.end(),
              [&](std::size_t a, std::size_t b) { return span(a).first < span(b).first; });
    keeps_order_ = forces_order();
    for (std::size_t r = 0; r + 1 < roots_.size(); ++r)
      keeps_order_ = keeps_order_ && span(roots_[r]).second < span(roots_[r + 1]).first;
  }

  std::size_t size() const { return roots_.size(); }
  /// Whether tiles of the first ones stand above those of later ones.
  bool keep_order() const { return keeps_order_; }
  /// Below one instance of the cut: of its memories, as many instances of each as some Einsum can
  /// use at the same time; of computes, a value of each tensor.
  double bits(std::size_t room) const {
    double sum = 0;
    for (std::size_t place = 0; place < room_.size(); ++place)
      if (is_used_[place] != 0 && root(place) == roots_[room]) sum += bits_[place];
    return sum;
  }
  /// The tensors of an Einsum that are in the room.
  TensorMask tensors(std::size_t room, std::size_t einsum) const {
    TensorMask mask = 0;
    for (std::size_t t = 0; t < problem_.einsums[einsum].tensors.size(); ++t)
      if (root(places_[einsum][t].front()) == roots_[room]) mask |= TensorMask{1} << t;
    return mask;
  }
  /// The fewest bits that a place of the room holds of each tensor's values.
  std::vector<double> widths(std::size_t einsum) const {
    const BoundEinsum& own = problem_.einsums[einsum];
    std::vector<double> widths;
    for (std::size_t t = 0; t < own.tensors.size(); ++t) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t place : places_[einsum][t])
        least = std::min(
            least, own.components[is_computes(place) ? cut_.index() : place].bits_per_value[t]);
      widths.push_back(least);
    }
    return widths;
  }

 private:
  using Places = std::vector<std::size_t>;  // ComponentId; the last number: computes
  bool is_computes(std::size_t place) const { return place == problem_.arch.components.size(); }

  /// Where the outermost tile inside the cut may be.
  Places find_places(std::size_t e, std::size_t t) const {
    const EinsumId id(e);
    const BoundEinsum& einsum = problem_[id];
    Places result;
    bool may_be_direct = false;
    for (const BoundCompute& compute : einsum.computes) {
      bool is_held = false;
      const auto begin = static_cast<std::size_t>(depth_of(compute, cut_)) + 1;
      for (std::size_t p = begin; p < compute.path.size() && !is_held; ++p) {
        const ComponentId memory = compute.path[p];
        if (!problem_.arch[memory].is_memory()) continue;
        const Hold hold = hold_of(problem_, id, memory, einsum.tensors[t]);
        if (hold.may || hold.must) result.push_back(memory.index());
        is_held = hold.must;
      }
      may_be_direct = may_be_direct || !is_held;
    }
    if (may_be_direct || result.empty()) result.push_back(problem_.arch.components.size());
    return result;
  }

  std::size_t root(std::size_t place) const {
    while (room_[place] != place) place = room_[place];
    return place;
  }

  void join(const Places& places) {
    for (const std::size_t place : places) {
      is_used_[place] = 1;
      room_[root(place)] = root(places.front());
    }
  }

  void measure() {
    bits_.assign(room_.size(), 0);
    for (std::size_t e = 0; e < problem_.einsums.size(); ++e) {
      const EinsumId id(e);
      const BoundEinsum& einsum = problem_[id];
      const BoundComponent& outside = einsum.components[cut_.index()];
      for_each_inner_memory(problem_, id, cut_, [&](ComponentId memory, double share) {
        const BoundComponent& bound = einsum.components[memory.index()];
        const double instances = bound.instances / outside.instances * share;
        bits_[memory.index()] = std::max(bits_[memory.index()], bound.size_bits * instances);
      });
      for (const BoundCompute& compute : einsum.computes) {
        double bits = 0;
        for (const double own : outside.bits_per_value) bits += own;
        const std::vector<double> use =
            largest_use_inside(problem_, id, compute, Factors::kPerfect);
        const double instances = einsum.components[compute.component.index()].instances /
                                 outside.instances * use_inside(use, compute, cut_);
        bits_.back() = std::max(bits_.back(), bits * instances);
      }
    }
  }

  /// The places of a room on the way: the outermost and the innermost one.
  std::pair<int, int> span(std::size_t root_place) const {
    constexpr int kComputes = std::numeric_limits<int>::max();
    std::pair<int, int> span{kComputes, 0};
    const auto extend = [&](int depth) {
      span = {std::min(span.first, depth), std::max(span.second, depth)};
    };
    for (std::size_t place = 0; place < room_.size(); ++place) {
      if (is_used_[place] == 0 || root(place) != root_place) continue;
      if (is_computes(place)) extend(kComputes);
      for (const BoundEinsum& einsum : problem_.einsums)
        for (const BoundCompute& compute : einsum.computes)
          if (!is_computes(place) && depth_of(compute, ComponentId(place)) >= 0)
            extend(depth_of(compute, ComponentId(place)));
    }
    return span;
  }

  bool forces_order() const {
    return std::all_of(
        problem_.arch.components.begin(), problem_.arch.components.end(), [](const Component& own) {
          return !own.is_memory() || own.tensor_policy()->force_memory_hierarchy_order;
        });
  }

  const BoundProblem& problem_;
  ComponentId cut_;
  std::vector<std::vector<Places>> places_;  // per Einsum and tensor
  std::vector<std::size_t> room_;            // per place: another one of its room, or itself
  std::vector<char> is_used_;                // per place
  std::vector<double> bits_;                 // per place
  std::vector<std::size_t> roots_;
  bool keeps_order_ = true;
};

/// A component as a relaxed machine has it: whatever it asks for beyond what it must hold, real
/// mappings need not meet there.
Component kept(Component component) {
  component.fork.reset();
  component.leak_power_w = 0;
  for (SpatialDimension& dimension : component.spatial) dimension.min_usage.reset();
  if (auto* memory = std::get_if<Memory>(&component.kind)) {
    memory->tensors.tensor_order_options.clear();
    memory->partial_actions = PartialActions::kPart;  // never more
  }
  return component;
}

Arch arch_of(const BoundProblem& problem, ComponentId cut, const Rooms& rooms,
             std::size_t n_computes) {
  Arch arch;
  arch.name = problem.arch.name;
  arch.clock_hz = problem.arch.clock_hz;
  for (const ComponentId id : kept_components(problem, cut))
    arch.components.push_back(kept(problem.arch[id]));
  Component inside;
  inside.name = problem.arch[cut].name + " inside";
  Memory memory;
  memory.size_bits = Expression::literal(std::numeric_limits<double>::infinity());
  memory.merging_reads = MergingReads::kFree;
  memory.draining_reads = DrainingReads::kFree;
  memory.tensors.force_memory_hierarchy_order = rooms.keep_order();
  inside.kind = memory;
  for (const char* name : {"read", "write"}) inside.actions.emplace_back().name = name;
  Component compute;
  compute.name = problem.arch[cut].name + " compute";
  compute.kind = Compute{};
  compute.actions.emplace_back().name = "compute";
  const std::string name = inside.name;
  for (std::size_t room = 0; room < rooms.size(); ++room) {
    if (room > 0) inside.name = name + " " + std::to_string(room + 1);
    arch.components.push_back(inside);
  }
  const ComponentId first(arch.components.size());
  const std::string compute_name = compute.name;
  for (std::size_t n = 0; n < n_computes; ++n) {
    if (n > 0) compute.name = compute_name + " " + std::to_string(n + 1);
    arch.components.push_back(compute);
  }
  arch.components[first.index()].leak_power_w =
      leaking_power(problem) / static_cast<double>(instances_of(arch, first));
  return arch;
}

/// The number, among those of the compute, of an action of one point that takes so long and so much
/// energy.
std::size_t action_of(double energy_j, double seconds, double points, Component* compute) {
  Action action = compute->actions.front();
  action.energy_j = points > 0 ? energy_j / points : 0;
  action.throughput = seconds > 0 ? points / seconds : kUnbounded;
  const auto begin = compute->actions.begin() + 1, end = compute->actions.end();
  const auto known = std::find(begin, end, action);
  if (known != end) return static_cast<std::size_t>(known - compute->actions.begin());
  compute->actions.push_back(action);
  return compute->actions.size() - 1;
}

}  // namespace

std::vector<ComponentId> relaxation_cuts(const BoundProblem& problem) {
  const auto outermost = single_outermost(problem);
  if (!outermost || problem.einsums.empty() || problem.einsums.front().computes.empty()) return {};
  std::vector<ComponentId> cuts;
  const std::vector<ComponentId>& path = problem.einsums.front().computes.front().path;
  for (std::size_t p = 0; p < path.size(); ++p) {
    const Component& component = problem.arch[path[p]];
    if (!is_common(problem, path[p], static_cast<int>(p)) || is_array(component)) break;
    if (component.is_memory() && (path[p] == *outermost || has_much_inside(problem, path[p])))
      cuts.push_back(path[p]);
  }
  return cuts;
}

std::vector<ComponentId> kept_components(const BoundProblem& problem, ComponentId cut) {
  const BoundCompute& compute = problem.einsums.front().computes.front();
  std::vector<ComponentId> result;
  for (int p = 0; p <= depth_of(compute, cut); ++p)
    if (const ComponentId id = compute.path[static_cast<std::size_t>(p)];
        !problem.arch[id].is_network())
      result.push_back(id);
  return result;
}

std::optional<BoundProblem> relaxed_machine(const BoundProblem& problem, ComponentId cut,
                                            const InnerOperands& inside, const InnerWays& ways) {
  const auto outermost = single_outermost(problem);
  if (!outermost || merges_windows(problem, cut)) return std::nullopt;
  const Rooms rooms(problem, cut);
  std::size_t n_computes = 1;
  for (const std::vector<InnerWay>& own : ways) n_computes = std::max(n_computes, own.size());
  auto relaxed = bind(problem.workload, arch_of(problem, cut, rooms, n_computes));
  if (!relaxed) return std::nullopt;
  const std::vector<ComponentId> kept = kept_components(problem, cut);
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const EinsumId id(e);
    BoundEinsum& own = relaxed->einsums[e];
    for (std::size_t c = 0; c < kept.size(); ++c) {
      const BoundComponent& real = problem[id].components[kept[c].index()];
      own.components[c].bits_per_value = real.bits_per_value;
      // What a memory inside the cut backs is not to be held here, whatever `keep` says.
      own.components[c].forbidden |= real.forbidden;
    }
    for (std::size_t room = 0; room < rooms.size(); ++room) {
      BoundComponent& inner = own.components[kept.size() + room];
      inner.size_bits = rooms.bits(room);
      inner.bits_per_value = rooms.widths(e);
      inner.forbidden = ~rooms.tensors(room, e);
    }
    const OperandQuestion operands{Factors::kPerfect, *outermost, &inside[e], cut};
    const ComputeBound bound = compute_bound(problem, id, Factors::kPerfect, operands);
    if (!std::isfinite(bound.energy_j) || !std::isfinite(bound.with_operands_s))
      return std::nullopt;
    const double points = iteration_points(problem.workload[id]) * instances_of(problem, id);
    // Of one instance: those outside the cut share the points.
    const double instances = own.components.back().instances;
    const std::vector<InnerWay> unknown(1);
    const std::vector<InnerWay>& inner = ways.empty() || ways[e].empty() ? unknown : ways[e];
    if (own.computes.size() < inner.size()) return std::nullopt;
    own.computes.resize(inner.size());
    for (std::size_t w = 0; w < inner.size(); ++w) {
      BoundCompute& way = own.computes[w];
      way.cuts = inner[w].cuts;
      if (!way.cuts.empty()) way.cuts.push_back({bound.energy_j, 1});
      Component& compute = relaxed->arch.components[way.component.index()];
      const double seconds = std::max(bound.with_operands_s * instances, inner[w].seconds);
      way.calls_per_point = {
          {action_of(way.cuts.empty() ? bound.energy_j : 0, seconds, points, &compute), 1}};
    }
  }
  relaxed->bounds = cost_bounds(*relaxed);
  return std::move(*relaxed);
}

DirectEnergies direct_energies(const BoundProblem& problem, ComponentId cut) {
  DirectEnergies energies(problem.einsums.size());
  const auto outermost = single_outermost(problem);
  if (!outermost) return energies;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    OperandQuestion question{.factors = Factors::kPerfect, .outermost = *outermost, .cut = cut};
    const auto energy = [&] {
      return compute_bound(problem, EinsumId(e), Factors::kPerfect, question).energy_j;
    };
    const double of_all = energy();
    for (std::size_t t = 0; t < problem.einsums[e].tensors.size(); ++t) {
      question.direct = static_cast<int>(t);
      energies[e].push_back(energy() - of_all);
    }
  }
  return energies;
}

InnerOperands inner_operands(const DirectEnergies& energies, double energy_j) {
  InnerOperands operands(energies.size(), 0);
  for (std::size_t e = 0; e < energies.size(); ++e)
    for (std::size_t t = 0; t < energies[e].size(); ++t)
      if (energies[e][t] >= energy_j) operands[e] |= TensorMask{1} << t;
  return operands;
}

}  // namespace sluice
