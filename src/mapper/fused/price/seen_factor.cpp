#include "seen_factor.h"

#include <algorithm>

#include "mapper/shape/trip_choices.h"
#include "model/visits/first_sights.h"

namespace sluice::fused {
namespace {

/// The ranks of an access that some variable of a class indexes.
BoundAccess ranks_of_class(const BoundAccess& access, const VariableClass& cls) {
  BoundAccess own = access;
  std::erase_if(own.index, [&](const BoundIndex& index) {
    return std::none_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
      return std::find(cls.variables.begin(), cls.variables.end(),
                       static_cast<std::uint32_t>(term.variable)) != cls.variables.end();
    });
  });
  return own;
}

}  // namespace

SeenFactor::SeenFactor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                       const VariableClass& cls, const Monomial& monomial)
    : shape_(shape), cls_(cls), access_(ranks_of_class(bound.accesses[monomial.access], cls)) {
  for (std::size_t v = 0; v < shape.sizes.size(); ++v)
    ranges_.push_back({shape.variables[v], 0, shape.sizes[v]});
  const bool at_compute = monomial.slot < 0;
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    if (!at_compute && loop.gap >= templ.slots[static_cast<std::size_t>(monomial.slot)].gap)
      continue;
    above_.push_back(l);
    effects_.push_back(monomial.united.contains(loop.number)  ? LoopEffect::kUnited
                       : monomial.loops.contains(loop.number) ? LoopEffect::kEvery
                                                              : LoopEffect::kOnce);
  }
}

double SeenFactor::of(const std::int64_t* trips) {
  std::vector<std::int64_t> key;
  for (const std::size_t l : above_) key.push_back(trips[l]);
  const auto [place, is_new] = known_.try_emplace(std::move(key), 0);
  if (is_new) {
    const std::vector<NestLoop> loops = loops_of(place->first);
    place->second = static_cast<double>(first_sights(
        loops.data(), effects_.data(), static_cast<int>(loops.size()), access_, ranges_));
  }
  return place->second;
}

/// The loops above the tile as a nest has them.
std::vector<NestLoop> SeenFactor::loops_of(const std::vector<std::int64_t>& trips) const {
  std::vector<std::int64_t> tiles(shape_.sizes);
  std::vector<NestLoop> loops;
  for (std::size_t i = 0; i < above_.size(); ++i) {
    const ClassLoop& of = cls_.loops[above_[i]];
    NestLoop& loop = loops.emplace_back();
    std::int64_t& tile = tiles[of.variable];
    loop.variable = static_cast<int>(of.variable);
    loop.spatial = of.spatial;
    loop.enclosing = tile;
    loop.trips = trip_count(trips[i]);
    loop.tile = tile_inside(tile, trips[i]);
    if (walks_rows(trips[i])) {
      loop.first = rows_of(trips[i]).first;
      loop.tile = rows_of(trips[i]).later;
    }
    tile = std::max(loop.first, loop.tile);
  }
  return loops;
}

}  // namespace sluice::fused
