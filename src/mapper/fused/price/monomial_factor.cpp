#include "monomial_factor.h"

#include <algorithm>
#include <cstdlib>

#include "mapper/shape/trip_choices.h"
#include "model/bind/index_extent.h"

namespace sluice::fused {

MonomialFactor::MonomialFactor(const BoundEinsum& bound, const EinsumShape& shape,
                               const Template& templ, const VariableClass& cls,
                               const Monomial& monomial)
    : shape_(shape), cls_(cls) {
  if (monomial.slot >= 0) slot_ = &templ.slots[static_cast<std::size_t>(monomial.slot)];
  for (std::uint32_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    if (monomial.loops.contains(loop.number)) multiplied_.push_back(l);
    if (slot_ == nullptr) continue;
    const bool is_above = loop.gap < slot_->gap || monomial.extra_above.contains(loop.number);
    if (is_above) above_all_.push_back(l);
    if (is_above && monomial.still && !loop.spatial) none_runs_.push_back(l);
  }
  if (slot_ == nullptr) return;
  const bool is_held = monomial.access >= bound.accesses.size();
  const BoundAccess& access = is_held ? bound.held[monomial.access - bound.accesses.size()]
                                      : bound.accesses[monomial.access];
  is_whole_backing_ = slot_->backing && is_held;
  if (cls.plain) {
    if (access.relevance[cls.variables.front()] == Relevance::kRelevant)
      volume_ = cls.variables.size() == 1 ? Volume::kTile : Volume::kProduct;
  } else {
    volume_ = Volume::kCoupled;
  }
  find_tiles();
  if (volume_ != Volume::kCoupled) return;
  in_class_.assign(shape.sizes.size(), -1);
  for (std::size_t i = 0; i < cls.variables.size(); ++i)
    in_class_[cls.variables[i]] = static_cast<std::int32_t>(i);
  for (const BoundIndex& index : access.index)
    if (std::any_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
          return in_class_[static_cast<std::size_t>(term.variable)] >= 0;
        }))
      indices_.push_back(&index);
  find_window(monomial);
}

void MonomialFactor::find_tiles() {
  for (const std::uint32_t v : cls_.variables) {
    Above& above = above_.emplace_back();
    above.size = shape_.sizes[v];
    for (const std::uint32_t l : above_all_)
      if (cls_.loops[l].variable == v) above.loops.push_back(l);
  }
}

/// The loop of the class that the node slides over stands below it, and above its window's step.
void MonomialFactor::find_window(const Monomial& monomial) {
  if (slot_->sliding_loop < 0) return;
  const auto slides_over = static_cast<std::uint32_t>(slot_->sliding_loop);
  const auto window =
      std::find_if(cls_.loops.begin(), cls_.loops.end(), [&](const ClassLoop& loop) {
        return !monomial.extra_above.contains(loop.number) &&
               std::find(loop.places.begin(), loop.places.end(), slides_over) != loop.places.end();
      });
  if (window == cls_.loops.end()) return;
  window_ = static_cast<std::int32_t>(window - cls_.loops.begin());
  above_with_window_ = above_;
  const auto l = static_cast<std::uint32_t>(window_);
  if (std::find(above_all_.begin(), above_all_.end(), l) != above_all_.end()) return;
  for (std::size_t i = 0; i < cls_.variables.size(); ++i) {
    if (cls_.variables[i] != window->variable) continue;
    Loops& loops = above_with_window_[i].loops;
    loops.insert(std::lower_bound(loops.begin(), loops.end(), l), l);
  }
}

std::int64_t MonomialFactor::Above::tile(const std::int64_t* trips) const {
  std::int64_t product = 1;
  for (const std::uint32_t l : loops) {
    if (is_uneven(trips[l])) {  // the outermost one
      std::int64_t tile = size;
      for (const std::uint32_t loop : loops) tile = tile_inside(tile, trips[loop]);
      return tile;
    }
    product *= trips[l];
  }
  return product == 1 ? size : size / product;
}

bool MonomialFactor::Above::is_cut(const std::int64_t* trips) const {
  return std::any_of(loops.begin(), loops.end(), [&](std::uint32_t l) { return trips[l] != 1; });
}

double MonomialFactor::product(const std::int64_t* trips) const {
  double volume = 1;
  for (std::uint32_t v : cls_.variables) volume *= static_cast<double>(shape_.sizes[v]);
  for (const std::uint32_t l : above_all_) volume /= static_cast<double>(trips[l]);
  return volume;
}

double MonomialFactor::coupled(const std::vector<Above>& above, const std::int64_t* trips) const {
  constexpr std::size_t kMost = 64;  // variables of an Einsum
  std::int64_t tiles[kMost];
  for (std::size_t i = 0; i < above.size(); ++i) tiles[i] = above[i].tile(trips);
  double volume = 1;
  for (const BoundIndex* index : indices_) {
    bool is_tiled = false;
    std::int64_t extent = extent_of(*index, [&](int v) -> std::int64_t {
      const std::int32_t at = in_class_[static_cast<std::size_t>(v)];
      if (at < 0) return 1;
      const auto i = static_cast<std::size_t>(at);
      is_tiled = is_tiled || above[i].is_cut(trips);
      return tiles[i];
    });
    if (is_whole_backing_) extent = is_tiled ? backing_extent(*index, extent) : index->whole;
    volume *= static_cast<double>(extent);
  }
  return volume;
}

/// What a node fetches, also one that slides over a loop of the class: where its tile is
/// shorter than the step, a whole tile each time, and nothing of what lies between.
double MonomialFactor::fetched(const std::int64_t* trips) const {
  const double volume = coupled(above_, trips);
  if (window_ < 0) return volume;
  return std::min(
      volume, static_cast<double>(trip_count(trips[window_])) * coupled(above_with_window_, trips));
}

/// Times what loops run, per state.
void MonomialFactor::multiply(const Loops& loops, const Block& block, double* row) {
  for (const std::uint32_t l : loops) {
    const std::int32_t* trips = block.loop(l);
    for (std::size_t s = 0; s < block.n; ++s) row[s] *= static_cast<double>(trips[s]);
  }
}

/// What loops leave of a size, per state.
void MonomialFactor::divide(double size, const Loops& loops, const Block& block, double* row) {
  std::fill_n(row, block.n, 1.0);
  multiply(loops, block, row);
  for (std::size_t s = 0; s < block.n; ++s) row[s] = size / row[s];
}

void MonomialFactor::coupled(const std::vector<Above>& above, const Block& block,
                             double* row) const {
  const std::size_t n = block.n;
  std::vector<Row> tiles(above.size());
  for (std::size_t i = 0; i < above.size(); ++i)
    divide(static_cast<double>(above[i].size), above[i].loops, block, tiles[i].data());
  std::fill_n(row, n, 1.0);
  for (const BoundIndex* index : indices_) {
    Row extent;
    std::fill_n(extent.begin(), n, static_cast<double>(1 + index->slack));
    for (const BoundTerm& term : index->terms) {
      const std::int32_t at = in_class_[static_cast<std::size_t>(term.variable)];
      if (at < 0) continue;
      const Row& tile = tiles[static_cast<std::size_t>(at)];
      const auto steps = static_cast<double>(std::abs(term.coefficient));
      for (std::size_t s = 0; s < n; ++s) extent[s] += steps * (tile[s] - 1);
    }
    if (is_whole_backing_) widen(*index, above, tiles, n, extent.data());
    for (std::size_t s = 0; s < n; ++s) row[s] *= extent[s];
  }
}

/// What a backing node holds where an access sees these extents.
void MonomialFactor::widen(const BoundIndex& index, const std::vector<Above>& above,
                           const std::vector<Row>& tiles, std::size_t n, double* extent) const {
  double last = -1, held = 0;  // an access's extent, and what that holds, where it is tiled
  for (std::size_t s = 0; s < n; ++s) {
    const bool is_tiled =
        std::any_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
          const std::int32_t at = in_class_[static_cast<std::size_t>(term.variable)];
          const auto i = static_cast<std::size_t>(at);
          return at >= 0 && tiles[i][s] < static_cast<double>(above[i].size);
        });
    if (is_tiled && extent[s] != last) {  // neighbours are often alike
      last = extent[s];
      held = static_cast<double>(backing_extent(index, static_cast<std::int64_t>(last)));
    }
    extent[s] = is_tiled ? held : static_cast<double>(index.whole);
  }
}

void MonomialFactor::fetched(const Block& block, double* row) const {
  coupled(above_, block, row);
  if (window_ < 0) return;
  Row moved;
  coupled(above_with_window_, block, moved.data());
  multiply({static_cast<std::uint32_t>(window_)}, block, moved.data());
  for (std::size_t s = 0; s < block.n; ++s) row[s] = std::min(row[s], moved[s]);
}

void MonomialFactor::of_even(const ClassStates& states, std::size_t first, std::size_t n,
                             double* factors) const {
  const Block block{states, first, n};
  double size = 1;
  switch (volume_) {
    case Volume::kNone:
      std::fill_n(factors, n, 1.0);
      break;
    case Volume::kTile:
      divide(static_cast<double>(above_.front().size), above_.front().loops, block, factors);
      break;
    case Volume::kProduct:
      for (const std::uint32_t v : cls_.variables) size *= static_cast<double>(shape_.sizes[v]);
      divide(size, above_all_, block, factors);
      break;
    case Volume::kCoupled:
      fetched(block, factors);
      break;
  }
  multiply(multiplied_, block, factors);
  for (const std::uint32_t l : none_runs_) {
    const std::int32_t* trips = block.loop(l);
    for (std::size_t s = 0; s < n; ++s) factors[s] = trips[s] != 1 ? 0 : factors[s];
  }
}

/// Where every loop of the class has tiles of one size.
double MonomialFactor::even(const std::int64_t* trips) const {
  double factor = 1;
  for (const std::uint32_t l : multiplied_) factor *= static_cast<double>(trip_count(trips[l]));
  switch (volume_) {
    case Volume::kNone:
      return factor;
    case Volume::kTile:
      return factor * static_cast<double>(above_.front().tile(trips));
    case Volume::kProduct:
      return factor * product(trips);
    case Volume::kCoupled:
      break;
  }
  return factor * fetched(trips);
}

/// The same, added up over the tiles of the class's uneven loop (trip_choices.h): in each the next
/// loop over the variable runs as often as the tile takes.
double MonomialFactor::uneven(const std::int64_t* trips, std::size_t loop) const {
  const std::uint32_t variable = cls_.loops[loop].variable;
  const std::int64_t size = shape_.sizes[variable];
  std::size_t next = loop + 1;
  while (next < cls_.loops.size() && (cls_.loops[next].variable != variable || trips[next] == 1))
    ++next;
  std::vector<std::int64_t> own(trips, trips + cls_.loops.size());
  double factor = 0;
  for (const EqualTiles& equal : uneven_tiles(size, trips[loop])) {
    if (equal.count == 0) continue;
    own[loop] = imperfect_trips(equal.tile, equal.tile);  // one step
    if (next < own.size()) own[next] = equal.tile * trips[next] / tile_inside(size, trips[loop]);
    factor += static_cast<double>(equal.count) * even(own.data());
  }
  return factor;
}

/// Of one variable, with an uneven outermost loop: the factor of the loops from one on, added up
/// over the tiles of those that multiply, in the largest tile of the others.
double MonomialFactor::over_tiles(const std::int64_t* trips, std::size_t loop,
                                  Around around) const {
  while (loop < cls_.loops.size() && trips[loop] == 1) ++loop;
  if (loop == cls_.loops.size())
    return volume_ == Volume::kTile ? static_cast<double>(around.held) : 1;
  const auto is_one_of = [&](const Loops& loops) {
    return std::binary_search(loops.begin(), loops.end(), static_cast<std::uint32_t>(loop));
  };
  const bool is_above = is_one_of(above_all_);
  const std::int64_t most = tile_inside(around.tile, trips[loop]);
  const auto inside = [&](std::int64_t tile) {
    Around next{most, tile, around.held};
    if (is_above)
      next.held = around.held == around.extent
                      ? tile
                      : (around.held + trip_count(trips[loop]) - 1) / trip_count(trips[loop]);
    return over_tiles(trips, loop + 1, next);
  };
  if (!is_one_of(multiplied_)) return inside(std::min(most, around.extent));
  double sum = 0;
  for (const EqualTiles& equal :
       walks_rows(trips[loop])
           ? uneven_tiles(around.extent, trips[loop])
           : std::vector<EqualTiles>{{most, around.extent / most}, {around.extent % most, 1}})
    if (equal.tile > 0 && equal.count > 0)
      sum += static_cast<double>(equal.count) * inside(equal.tile);
  return sum;
}

double MonomialFactor::of(const std::int64_t* trips) const {
  for (const std::uint32_t l : none_runs_)
    if (trips[l] != 1) return 0;
  if (cls_.plain && cls_.variables.size() == 1 &&
      std::any_of(trips, trips + cls_.loops.size(), is_uneven)) {
    const std::int64_t size = shape_.sizes[cls_.variables.front()];
    return over_tiles(trips, 0, {size, size, size});
  }
  for (auto l = multiplied_.rbegin(); l != multiplied_.rend(); ++l)
    if (is_uneven(trips[*l])) return uneven(trips, *l);
  return even(trips);
}

}  // namespace sluice::fused
