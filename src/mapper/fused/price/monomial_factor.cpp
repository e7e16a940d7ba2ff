#include <algorithm>
#include <cmath>

#include "cost_program.h"
#include "mapper/shape/trip_choices.h"
#include "model/bind/index_extent.h"

namespace sluice::fused {
namespace {

/// Tile size of a variable inside all its loops above a slot.
std::int64_t tile_above(const EinsumShape& shape, const VariableClass& cls, std::uint32_t variable,
                        std::uint32_t gap, const LoopSet& extra, const std::int64_t* trips) {
  std::int64_t tile = shape.sizes[variable];
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    if (loop.variable == variable && (loop.gap < gap || extra.contains(loop.number)))
      tile = tile_inside(tile, trips[l]);
  }
  return tile;
}

double plain_volume(const EinsumShape& shape, const VariableClass& cls, std::uint32_t gap,
                    const LoopSet& extra, const std::int64_t* trips) {
  if (cls.variables.size() == 1)
    return static_cast<double>(tile_above(shape, cls, cls.variables.front(), gap, extra, trips));
  double volume = 1;
  for (std::uint32_t v : cls.variables) volume *= static_cast<double>(shape.sizes[v]);
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    if (loop.gap < gap || extra.contains(loop.number)) volume /= static_cast<double>(trips[l]);
  }
  return volume;
}

double coupled_volume(const EinsumShape& shape, const VariableClass& cls, const BoundAccess& access,
                      std::uint32_t gap, const LoopSet& extra, bool backing,
                      const std::int64_t* trips) {
  double volume = 1;
  for (const BoundIndex& index : access.index) {
    bool mine = false, tiled = false;
    std::int64_t extent = extent_of(index, [&](int v) -> std::int64_t {
      const auto variable = static_cast<std::uint32_t>(v);
      if (std::find(cls.variables.begin(), cls.variables.end(), variable) == cls.variables.end())
        return 1;
      const std::int64_t tile = tile_above(shape, cls, variable, gap, extra, trips);
      mine = true;
      tiled = tiled || tile < shape.sizes[variable];
      return tile;
    });
    if (backing) extent = tiled ? backing_extent(index, extent) : index.whole;
    if (mine) volume *= static_cast<double>(extent);
  }
  return volume;
}

/// What a node fetches, also one that slides over a loop of the class: where its tile is
/// shorter than the step, a whole tile each time, and nothing of what lies between.
double fetched_volume(const EinsumShape& shape, const VariableClass& cls, const BoundAccess& access,
                      const Slot& slot, const LoopSet& extra, bool backing,
                      const std::int64_t* trips) {
  const double volume = coupled_volume(shape, cls, access, slot.gap, extra, backing, trips);
  for (std::size_t l = 0; slot.sliding_loop >= 0 && l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    const auto slides_over = static_cast<std::uint32_t>(slot.sliding_loop);
    if (extra.contains(loop.number) ||
        std::find(loop.places.begin(), loop.places.end(), slides_over) == loop.places.end())
      continue;
    LoopSet with_window = extra;
    with_window.add(loop.number);
    return std::min(volume,
                    static_cast<double>(trip_count(trips[l])) *
                        coupled_volume(shape, cls, access, slot.gap, with_window, backing, trips));
  }
  return volume;
}

/// A monomial's factor where every loop of the class has tiles of one size.
double even_factor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                   const VariableClass& cls, const Monomial& monomial, const std::int64_t* trips) {
  double factor = 1;
  for (std::size_t l = 0; l < cls.loops.size(); ++l)
    if (monomial.loops.contains(cls.loops[l].number))
      factor *= static_cast<double>(trip_count(trips[l]));
  if (monomial.slot < 0) return factor;
  const Slot& slot = templ.slots[static_cast<std::size_t>(monomial.slot)];
  const bool is_held = monomial.access >= bound.accesses.size();
  const BoundAccess& access = is_held ? bound.held[monomial.access - bound.accesses.size()]
                                      : bound.accesses[monomial.access];
  if (!cls.plain)
    return factor * fetched_volume(shape, cls, access, slot, monomial.extra_above,
                                   slot.backing && is_held, trips);
  if (access.relevance[cls.variables.front()] != Relevance::kRelevant) return factor;
  return factor * plain_volume(shape, cls, slot.gap, monomial.extra_above, trips);
}

/// The same, added up over the tiles of the class's uneven loop (trip_choices.h): in each the next
/// loop over the variable runs as often as the tile takes.
double uneven_factor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                     const VariableClass& cls, const Monomial& monomial, const std::int64_t* trips,
                     std::size_t uneven) {
  const std::uint32_t variable = cls.loops[uneven].variable;
  std::size_t next = uneven + 1;
  while (next < cls.loops.size() && (cls.loops[next].variable != variable || trips[next] == 1))
    ++next;
  std::vector<std::int64_t> own(trips, trips + cls.loops.size());
  double factor = 0;
  for (const EqualTiles& equal : uneven_tiles(shape.sizes[variable], trips[uneven])) {
    if (equal.count == 0) continue;
    own[uneven] = imperfect_trips(equal.tile, equal.tile);  // one step
    if (next < own.size())
      own[next] = equal.tile * trips[next] / tile_inside(shape.sizes[variable], trips[uneven]);
    factor += static_cast<double>(equal.count) *
              even_factor(bound, shape, templ, cls, monomial, own.data());
  }
  return factor;
}

}  // namespace

double monomial_factor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                       const VariableClass& cls, const Monomial& monomial,
                       const std::int64_t* trips) {
  std::size_t uneven = cls.loops.size();
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    if (is_uneven(trips[l]) && monomial.loops.contains(loop.number)) uneven = l;
    if (!monomial.still || loop.spatial || trips[l] == 1) continue;
    if (loop.gap < templ.slots[static_cast<std::size_t>(monomial.slot)].gap ||
        monomial.extra_above.contains(loop.number))
      return 0;
  }
  return uneven == cls.loops.size()
             ? even_factor(bound, shape, templ, cls, monomial, trips)
             : uneven_factor(bound, shape, templ, cls, monomial, trips, uneven);
}

}  // namespace sluice::fused
