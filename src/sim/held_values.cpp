#include "held_values.h"

#include "moved_tiles.h"

namespace sluice::sim {

Points HeldValues::take_new(const Holder& holder, const std::vector<std::int64_t>& instance,
                            const Party& party) {
  Tile& tile = tiles_[{holder, instance}];
  Box box = box_above(holder, party.lane->boxes.at(holder.einsum));
  if (box != tile.box) move(holder, tile, box);
  Points taken = common(party.points, tile.fresh);
  tile.fresh = without(tile.fresh, taken);
  return taken;
}

/// The holder's tile around a tile further inside; tiles divide evenly.
Box HeldValues::box_above(const Holder& holder, const Box& inside) const {
  const Einsum& einsum = workload_[holder.einsum];
  const Path& path = program_.paths.at(holder.einsum);
  Box box = whole_box(einsum);
  for (std::size_t l = 0; l < holder.n_loops; ++l) {
    const auto variable = walked(*path.loops[l], einsum);
    if (!variable) continue;
    const std::size_t v = place_of(einsum, *variable);
    const std::int64_t tile = path.loops[l]->tile_shape;
    box[v].begin += (inside[v].begin - box[v].begin) / tile * tile;
    box[v].size = tile;
  }
  return box;
}

void HeldValues::move(const Holder& holder, Tile& tile, const Box& box) const {
  const Einsum& einsum = workload_[holder.einsum];
  auto ranges = PointMap::touched_ranges(einsum, holder.tensor, holder.is_output, box);
  Points points = points_.touched(einsum, holder.tensor, holder.is_output, box);
  if (tile.box.empty()) {
    tile.fresh = points;
  } else if (ranges == tile.ranges) {
    tile.fresh.clear();
  } else {
    const auto rank = rank_of_move(tile.ranges, ranges);
    const bool slides = !holder.is_output && rank &&
                        rank == rank_of_innermost(workload_, program_, holder.einsum, holder.tensor,
                                                  holder.n_loops);
    tile.fresh = slides ? without(points, tile.points) : points;
  }
  if (holder.returns)
    std::erase_if(tile.fresh, [&](Element element) { return tile.seen.insert(element).second; });
  tile.box = box;
  tile.ranges = std::move(ranges);
  tile.points = std::move(points);
}

}  // namespace sluice::sim
