#include "mapper/request/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mapper/common/network_cost.h"
#include "mapper/request/windows.h"
#include "model/bind/divisors.h"

namespace sluice {
namespace {

NoMapping refusal(std::string reason, std::string relaxation) {
  NoMapping no;
  no.reason = std::move(reason);
  no.nearest_relaxation = std::move(relaxation);
  no.proven = false;  // nothing was searched
  return no;
}

std::optional<NoMapping> refused_options(const Mapper& mapper, const MapperOptions& options) {
  const bool is_larger = options.imperfect_factors != ImperfectFactors::kNone || options.row_fusion;
  if (is_larger && !mapper.knows_larger_spaces())
    return refusal("the mapper " + mapper.name() + " knows perfect factors without row_fusion only",
                   "leave out imperfect_factors and row_fusion");
  if (options.epsilon > 0 && options.objectives.size() > 1)
    return refusal("an epsilon is for one objective, and there are several",
                   "leave out epsilon, or all objectives but one");
  return std::nullopt;
}

/// Whether a perfect factor of the range can be a tile that the constraint asks for; if not, why.
std::optional<NoMapping> refused_tile(const TileConstraint& c, const Einsum& einsum,
                                      const Workload& workload) {
  for (const VariableRange& range : einsum.iteration_space) {
    if (range.variable != c.variable || !c.maximum || *c.maximum >= range.size) continue;
    const std::vector<std::int64_t> tiles = divisors_of(range.size);
    const auto above = std::lower_bound(tiles.begin(), tiles.end(), c.minimum);
    if (*above <= *c.maximum) continue;
    return refusal(
        fmt::format("the constraint {} asks for tiles of {} from {} to {}, and none of these "
                    "divides its range in the Einsum {}, {}",
                    c.name, workload[c.variable].name, c.minimum, *c.maximum, einsum.name,
                    range.size),
        fmt::format("ask for {} or {}, or for imperfect_factors", *std::prev(above), *above));
  }
  return std::nullopt;
}

/// With perfect factors, a range of tiles without a divisor is kept only where the memory is left
/// empty: nobody means that.
std::optional<NoMapping> refused_tiles(const Workload& workload, const MapperOptions& options) {
  if (options.imperfect_factors != ImperfectFactors::kNone) return std::nullopt;
  for (const TileConstraint& c : options.constraints.tiles)
    for (std::size_t e = 0; e < workload.einsums.size(); ++e)
      if (!c.einsum || c.einsum->index() == e)
        if (auto no = refused_tile(c, workload.einsums[e], workload)) return no;
  return std::nullopt;
}

std::optional<NoMapping> refused_constraints(const Mapper& mapper, const Workload& workload,
                                             const MapperOptions& options) {
  const Constraints& constraints = options.constraints;
  for (const ScheduleConstraint& c : constraints.schedules) {
    if (c.kind == SplitKind::kSequential || mapper.makes_concurrent_splits()) continue;
    return refusal("the constraint " + c.name + " asks for a split of the kind " +
                       split_name(c.kind) + "; the mapper " + mapper.name() +
                       " makes sequential ones only",
                   "leave out " + c.name);
  }
  if (auto no = refused_tiles(workload, options)) return no;
  if (constraints.collectives.empty() || mapper.makes_collectives()) return std::nullopt;
  const CollectiveConstraint& c = constraints.collectives.front();
  NoMapping no =
      refusal("the constraint " + c.name + " is about a collective on " + workload[c.tensor].name +
                  "; the mapper " + mapper.name() + " makes no collectives",
              "leave out " + c.name);
  no.tensors = {c.tensor};
  return no;
}

/// Windows, or several slices of a state in one tile.
bool has_windows(const BoundProblem& problem) {
  const auto holds_slices = [](const BoundAccess& held) {
    return std::any_of(held.index.begin(), held.index.end(),
                       [](const BoundIndex& index) { return index.slack > 0 || index.others > 0; });
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& e) {
    return moves_windows(e.relevance) || std::any_of(e.held.begin(), e.held.end(), holds_slices) ||
           moves_windows(e.held_relevance);
  });
}

bool has_tolls(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(),
                     [](const Component& component) { return component.is_toll(); });
}

/// Uneven tiles, and rows that Einsums hand on, which are uneven too, where these are asked for.
std::optional<UnpricedPart> unpriced_tiles(const MapperOptions& options, const char* where,
                                           const Component& component) {
  const bool is_uneven = options.imperfect_factors != ImperfectFactors::kNone;
  if (!is_uneven && !options.row_fusion) return std::nullopt;
  const char* without = !is_uneven           ? "no --row-fusion"
                        : options.row_fusion ? "no --imperfect-factors and no --row-fusion"
                                             : "no --imperfect-factors";
  return UnpricedPart{fmt::format("{} on {}", is_uneven ? "uneven tiles" : "row fusion", where),
                      component.name, without};
}

/// What compiled costs do not have of a network that costs something.
std::optional<UnpricedPart> unpriced_network(const BoundProblem& problem,
                                             const MapperOptions& options,
                                             const Component& component, const Network& network) {
  if (!costs(network)) return std::nullopt;
  if (network.layout == NodeLayout::kPacked)
    return UnpricedPart{"packed networks that cost energy or time", component.name,
                        "layout: aligned"};
  if (network.repeated_values == RepeatedValues::kFree)
    return UnpricedPart{"networks on which repeated values are free", component.name,
                        "repeated_values: counted"};
  if (auto part = unpriced_tiles(options, "networks that cost energy or time", component))
    return part;
  if (!takes_time_by_steps(network)) return std::nullopt;
  if (has_windows(problem))
    return UnpricedPart{
        "networks whose routers take time, where loops move windows or step "
        "through states",
        component.name, "router_latency: 0"};
  if (!options.constraints.tiles.empty())
    return UnpricedPart{"networks whose routers take time, with constraints on tiles",
                        component.name, "router_latency: 0"};
  if (has_tolls(problem.arch))
    return UnpricedPart{"networks whose routers take time, with tolls", component.name,
                        "router_latency: 0"};
  return std::nullopt;
}

/// A component whose `total_latency` is no maximum of sums of calls.
std::optional<ComponentId> timed_otherwise(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (std::size_t c = 0; c < einsum.components.size(); ++c)
      if (einsum.components[c].enabled && problem.arch.components[c].total_latency &&
          !einsum.components[c].latency_rows)
        return ComponentId(c);
  return std::nullopt;
}

/// What compiled costs do not have of a systolic array.
std::optional<UnpricedPart> unpriced_array(const Arch& arch, const MapperOptions& options,
                                           const Component& component) {
  if (has_tolls(arch))
    return UnpricedPart{"arrays that take cycles to fill and drain, with tolls", component.name,
                        "no array:"};
  return unpriced_tiles(options, "arrays that take cycles to fill and drain", component);
}

/// The second of several arrays on the way to one compute.
std::optional<ComponentId> array_within_an_array(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes) {
      int arrays = 0;
      for (const ComponentId id : compute.path) {
        const Container* container = std::get_if<Container>(&problem.arch[id].kind);
        if (container && container->array && ++arrays == 2) return id;
      }
    }
  return std::nullopt;
}

}  // namespace

std::optional<UnpricedPart> not_compiled(const BoundProblem& problem,
                                         const MapperOptions& options) {
  if (options.policy != LatencyPolicy::kOverlap)
    return UnpricedPart{"other latency policies than overlap", "--latency " + options.policy.name(),
                        "--latency overlap"};
  if (const auto inner = array_within_an_array(problem))
    return UnpricedPart{"arrays within arrays", problem.arch[*inner].name, "no array:"};
  if (const auto component = timed_otherwise(problem))
    return UnpricedPart{"a total_latency other than the largest of sums of calls",
                        problem.arch[*component].name, "no total_latency"};
  for (const Component& component : problem.arch.components) {
    if (const Network* network = std::get_if<Network>(&component.kind))
      if (auto part = unpriced_network(problem, options, component, *network)) return part;
    const Container* container = std::get_if<Container>(&component.kind);
    if (container && container->array)
      if (auto part = unpriced_array(problem.arch, options, component)) return part;
  }
  return std::nullopt;
}

std::optional<NoMapping> refused_alone(const Mapper& mapper, const BoundProblem& problem,
                                       const MapperOptions& options) {
  if (const auto part = mapper.unpriced(problem, options))
    return refusal(
        fmt::format("the mapper {} does not know {}: {}", mapper.name(), part->what, part->where),
        fmt::format("search with {}, and price the mapping found as it is: sluice evaluate",
                    part->without));
  if (auto no = refused_options(mapper, options)) return no;
  return refused_constraints(mapper, problem.workload, options);
}

}  // namespace sluice
