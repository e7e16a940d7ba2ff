#include "map_space.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "mapper/common/part_of_problem.h"
#include "mapper/shape/trip_choices.h"
#include "mapper/space/build.h"
#include "mapper/space/compatibility.h"
#include "mapper/space/sunk_loops.h"
#include "model/tree/finish_nests.h"

namespace sluice::sampling {
namespace {

using fused::EinsumShape;
using fused::LoopPlace;
using fused::Slot;
using fused::Template;

}  // namespace

MapSpace::MapSpace(const BoundProblem& problem, const MapperOptions& options,
                   const fused::TemplateLimits& limits)
    : problem_(problem),
      options_(options),
      cancel_(limits.cancel),
      last_use_(problem.workload.tensors.size(), 0) {
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e)
    shapes_.push_back(fused::make_einsum_shape(problem, EinsumId(e)));
  if (options.row_fusion) fused::add_row_loops(problem, &shapes_);
  templates_ = fused::TemplateLists(problem, shapes_, options, limits);
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    tile_rules_.push_back(fused::tile_rules(options.constraints, shapes_[e]));
    for (const fused::LocalTensor& tensor : shapes_[e].tensors) last_use_[tensor.id.index()] = e;
    for (const std::int64_t size : shapes_[e].sizes)
      if (options.imperfect_factors != ImperfectFactors::kNone && size <= fused::kLargestImperfect)
        if (const auto [at, is_new] = imperfect_.try_emplace(size); is_new)
          at->second = {fused::imperfect_tiles(size, shapes_[e].odd_fanouts),
                        fused::tiles_inside_imperfect(size, shapes_[e].odd_fanouts)};
  }
  for (const std::size_t e : templates_.first_einsums()) {
    alone_.push_back(one_as_bound(problem, EinsumId(e)));
    std::vector<std::uint32_t>& shared = shared_.emplace_back();
    for (std::uint32_t t = 0; t < shapes_[e].tensors.size(); ++t)
      if (shapes_[e].tensors[t].shared) shared.push_back(t);
    const std::size_t list = backings_.size();
    backings_.emplace_back();
    for (std::uint32_t t = 0; t < templates_[e].size(); ++t) group_by_backing(list, t);
  }
}

void MapSpace::group_by_backing(std::size_t list, std::uint32_t t) {
  std::vector<BackingGroup>& groups = backings_[list];
  const std::vector<std::uint32_t>& shared = shared_[list];
  std::vector<BackingGroup::Place> places(shared.size());
  for (const Slot& slot : templates_.lists()[list][t].slots) {
    if (!slot.shared) continue;
    const auto at = std::find(shared.begin(), shared.end(), slot.tensor);
    places[static_cast<std::size_t>(at - shared.begin())] = {slot.component, slot.persistent};
  }
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const BackingGroup& g) { return g.places == places; });
  if (group == groups.end()) group = groups.insert(groups.end(), {std::move(places), {}});
  group->templates.push_back(t);
}

std::uint32_t MapSpace::add(std::size_t e, Template templ) {
  std::uint32_t fused_gaps = 0;
  for (Slot& slot : templ.slots) {
    slot.shared = slot.backing && shapes_[e].tensors[slot.tensor].shared;
    if (slot.shared) fused_gaps = std::max(fused_gaps, slot.gap);
  }
  for (LoopPlace& loop : templ.loops) loop.fused = loop.gap < fused_gaps || loop.steps;
  const std::size_t before = templates_[e].size();
  const std::uint32_t t = templates_.add(e, std::move(templ));
  if (t == before) group_by_backing(templates_.list_of(e), t);
  return t;
}

std::vector<DemandingFanout> MapSpace::demanding_fanouts(std::size_t e,
                                                         const Template& templ) const {
  std::vector<DemandingFanout> result;
  if (shapes_[e].is_copy) return result;
  const BoundEinsum& bound = problem_[EinsumId(e)];
  for (std::size_t c = 0; c < bound.components.size(); ++c)
    for (std::uint32_t d = 0; d < bound.components[c].spatial.size(); ++d) {
      const BoundSpatial& spatial = bound.components[c].spatial[d];
      if (spatial.min_usage > 0 &&
          fused::may_spread_over(templates_[e], templ.placement, ComponentId(c), d))
        result.push_back({ComponentId(c), d, spatial.fanout,
                          spatial.min_usage * static_cast<double>(spatial.fanout)});
    }
  return result;
}

bool MapSpace::keeps_limits(std::size_t e, std::uint32_t t, const Trips& trips) const {
  const EinsumShape& shape = shapes_[e];
  const Template& templ = templates_[e][t];
  std::vector<int> fused_here(shape.sizes.size(), 0);
  int fused_loops = 0;
  for (std::size_t l = 0; l < trips.size(); ++l) {
    const LoopPlace& loop = templ.loops[l];
    if (trips[l] == 1) continue;
    if (loop.fused && !loop.steps &&
        (++fused_here[loop.variable] > options_.max_fused_loops_per_rank ||
         ++fused_loops > options_.max_fused_loops))
      return false;
    if (!loop.spatial) continue;
    std::int64_t used = 1;
    for (std::size_t other = 0; other < trips.size(); ++other) {
      const LoopPlace& place = templ.loops[other];
      if (place.spatial && place.component == loop.component && place.dimension == loop.dimension)
        used *= fused::trip_count(trips[other]);
    }
    if (used > problem_.arch[loop.component].spatial[loop.dimension].fanout) return false;
  }
  for (const fused::TileRule& rule : tile_rules_[e]) {
    for (const std::vector<bool>& above : fused::above_ruled_nodes(templ, rule)) {
      std::int64_t tile = shape.sizes[rule.variable];
      for (std::size_t l = 0; l < trips.size(); ++l)
        if (templ.loops[l].variable == rule.variable && above[l])
          tile = fused::tile_inside(tile, trips[l]);
      if (tile < rule.minimum || tile > rule.maximum) return false;
    }
  }
  if (options_.pruning.redundant_templates && fused::is_redundant(templ, trips)) return false;
  return fused::settles_routes(problem_, shape, templ, trips);
}

bool MapSpace::may_be_uneven_so(std::size_t e, std::uint32_t t, const Trips& trips) const {
  if (options_.imperfect_factors == ImperfectFactors::kNone) return true;
  const fused::EinsumShape& shape = shapes_[e];
  const Template& templ = templates_[e][t];
  std::vector<std::int64_t> inside(shape.sizes), unit(shape.sizes);
  for (std::size_t l = 0; l < trips.size(); ++l) {
    const LoopPlace& loop = templ.loops[l];
    const std::size_t v = loop.variable;
    const std::int64_t size = shape.sizes[v];
    if (fused::is_uneven(trips[l]) && !fused::walks_rows(trips[l])) {
      const auto known = imperfect_.find(size);
      if (inside[v] != size || !shape.tiles_freely(v) || known == imperfect_.end() ||
          (loop.fused && options_.imperfect_factors != ImperfectFactors::kAll) ||
          !std::binary_search(known->second.outer.begin(), known->second.outer.end(),
                              fused::tile_inside(size, trips[l]), std::greater<>()))
        return false;
    }
    const std::int64_t around = inside[v];
    inside[v] = fused::tile_inside(around, trips[l]);
    if (!fused::is_uneven(trips[l]) && trips[l] != 1 && unit[v] % inside[v] != 0) return false;
    unit[v] = fused::unit_inside(size, shape.odd_fanouts, unit[v], around, trips[l]);
  }
  return true;
}

bool MapSpace::steps_together(std::size_t e, std::uint32_t t, const Trips& trips) const {
  return fused::steps_together(problem_, shapes_[e], templates_[e][t], trips);
}

const BackingGroup* MapSpace::backing_of(std::size_t e, std::uint32_t templ) const {
  const auto& groups = backings(e);
  const auto own = std::find_if(groups.begin(), groups.end(), [&](const BackingGroup& group) {
    return std::binary_search(group.templates.begin(), group.templates.end(), templ);
  });
  return own == groups.end() ? nullptr : &*own;
}

const BackingGroup* MapSpace::moved_backing(std::size_t e, std::uint32_t templ, std::size_t shared,
                                            BackingGroup::Place place) const {
  const BackingGroup* group = backing_of(e, templ);
  if (group == nullptr) return nullptr;
  std::vector<BackingGroup::Place> wanted = group->places;
  wanted[shared] = place;
  const auto& groups = backings(e);
  const auto moved = std::find_if(groups.begin(), groups.end(),
                                  [&](const BackingGroup& own) { return own.places == wanted; });
  return moved == groups.end() ? nullptr : &*moved;
}

ChoicePtr MapSpace::make_choice(std::size_t e, std::uint32_t t, Trips trips) const {
  auto choice = std::make_shared<EinsumChoice>();
  choice->templ = t;
  choice->compatibility = fused::make_compatibility(problem_, shapes_[e], templates_[e][t], trips);
  // Whose room a tile lies in is the model's to find out.
  for (fused::Backing& backing : choice->compatibility.backings) backing.kept_by = 0;
  choice->spine = fused::spine_of(shapes_[e], choice->compatibility);
  choice->trips = std::move(trips);
  return choice;
}

/// Least bits of a slot's tile: of one access. A double buffer holds two where loops above it have
/// several steps.
double MapSpace::tile_bits(std::size_t e, const Template& templ, const Slot& slot,
                           const Trips& trips) const {
  std::vector<std::int64_t> tile(shapes_[e].sizes);
  bool moves = false;
  const auto step_into = [&](std::size_t l) {
    std::int64_t& inside = tile[templ.loops[l].variable];
    inside = fused::tile_inside(inside, trips[l]);
    moves = moves || (!templ.loops[l].spatial && fused::trip_count(trips[l]) > 1);
  };
  for (std::size_t l = 0; l < trips.size(); ++l)
    if (templ.loops[l].gap < slot.gap) step_into(l);
  for (const std::uint32_t l : fused::sunk_loops(shapes_[e], templ, slot, trips)) step_into(l);
  const BoundEinsum& bound = problem_[EinsumId(e)];
  double volume = 0;
  for (const BoundAccess& access : bound.accesses) {
    if (access.tensor != static_cast<int>(slot.tensor)) continue;
    double own = 1;
    for (const BoundIndex& index : access.index)
      own *= static_cast<double>(tile_extent(index, tile.data()) - index.slack);
    volume = std::max(volume, own);
  }
  const bool twice =
      moves && !slot.persistent && fused::is_double_buffered(problem_.arch[slot.component]);
  return (twice ? 2 : 1) * volume *
         bound.components[slot.component.index()].bits_per_value[slot.tensor];
}

std::optional<ComponentId> MapSpace::overfull(std::size_t e, std::uint32_t t,
                                              const Trips& trips) const {
  if (shapes_[e].is_copy) return std::nullopt;  // two tensors of a copy may be one
  const BoundEinsum& bound = problem_[EinsumId(e)];
  std::vector<double> held(bound.components.size(), 0);
  for (const Slot& slot : templates_[e][t].slots) {
    const std::size_t c = slot.component.index();
    if (!problem_.arch[slot.component].is_memory()) continue;
    if (bound.components[c].size_bits == kUnbounded) continue;
    if (slot.backing && fused::may_lie_in_another(shapes_[e], slot.tensor)) continue;
    held[c] += tile_bits(e, templates_[e][t], slot, trips);
    if (held[c] > bound.components[c].size_bits) return slot.component;
  }
  return std::nullopt;
}

std::optional<CostTotals> MapSpace::price_alone(std::size_t e, const EinsumChoice& choice) const {
  if (is_cancelled(cancel_)) return std::nullopt;
  const std::uint32_t list = templates_.list_of(e);
  EinsumShape shape = shapes_[templates_.first_einsums()[list]];  // alike, and its names are known
  shape.einsum = EinsumId(0);
  shape.recurrence = {};
  const Mapping nest = fused::build_mapping(
      alone_[list], {{&shape, &templates_[e][choice.templ], &choice.compatibility, choice.trips}});
  return evaluate_totals(alone_[list], nest, options_.policy);
}

std::optional<fused::Spine> MapSpace::join(const fused::Spine& prefix, std::size_t e,
                                           const EinsumChoice& choice) const {
  const auto match = fused::match_spines(prefix, choice.spine, problem_.roles);
  if (!match) return std::nullopt;
  fused::JoinedSpine joined = fused::join_spines(prefix, choice.spine, *match, last_use_, e);
  if (!joined.connected) return std::nullopt;
  return std::move(joined.spine);
}

bool MapSpace::joins(const Genome& genome) const {
  fused::Spine prefix;
  for (std::size_t e = 0; e < genome.size(); ++e) {
    auto next = join(prefix, e, *genome[e]);
    if (!next) return false;
    prefix = std::move(*next);
  }
  return true;
}

Mapping MapSpace::build(const Genome& genome) const {
  std::vector<fused::BuildPart> parts;
  for (std::size_t e = 0; e < genome.size(); ++e)
    parts.push_back({&shapes_[e], &templates_[e][genome[e]->templ], &genome[e]->compatibility,
                     genome[e]->trips});
  return fused::build_mapping(problem_, std::move(parts));
}

std::optional<CostTotals> MapSpace::price(const Genome& genome) const {
  if (is_cancelled(cancel_)) return std::nullopt;
  return evaluate_totals(problem_, build(genome), options_.policy);
}

}  // namespace sluice::sampling
