#include "held_values.h"

#include <utility>

#include "moved_tiles.h"

namespace sluice::referee {

Points HeldValues::take_new(const Holder& holder, const std::vector<std::int64_t>& instance,
                            const Party& party) {
  const Instance key{holder, instance};
  Tile& tile = tiles_[key];
  const Box box = box_above(holder, party.lane->boxes.at(holder.einsum));
  return box == tile.box ? Points{} : move(key, tile, box);
}

/// The holder's tile around a tile further inside; tiles divide evenly.
Box HeldValues::box_above(const Holder& holder, const Box& inside) const {
  const Einsum& einsum = workload_[holder.einsum];
  const Path& path = program_.paths.at(holder.einsum);
  Box box = whole_box(einsum);
  for (std::size_t l = 0; l < holder.n_loops; ++l) {
    const auto variable = walked(*path.loops[l], einsum);
    const auto steps = path.loops[l]->steps.find(holder.einsum);
    const bool has_one_step = steps == path.loops[l]->steps.end() || steps->second == 1;
    if (!variable || has_one_step) continue;  // a first tile may be all there is
    const std::size_t v = place_of(einsum, *variable);
    const std::int64_t tile = path.loops[l]->tile_shape;
    box[v].begin += (inside[v].begin - box[v].begin) / tile * tile;
    box[v].size = tile;
  }
  return box;
}

Points HeldValues::move(const Instance& instance, Tile& tile, const Box& box) {
  const Holder& holder = instance.first;
  const Einsum& einsum = workload_[holder.einsum];
  auto ranges = PointMap::touched_ranges(einsum, holder.tensor, holder.is_output, box);
  Points points = points_.touched(einsum, holder.tensor, holder.is_output, box);
  Points fresh;
  if (tile.box.empty()) {
    fresh = points;
  } else if (ranges != tile.ranges) {
    const auto rank = rank_of_move(tile.ranges, ranges);
    const bool slides = !holder.is_output && rank &&
                        rank == rank_of_innermost(workload_, program_, holder.einsum, holder.tensor,
                                                  holder.n_loops);
    fresh = slides ? without(points, tile.points) : points;
  }
  if (holder.returns) {  // only what an earlier tile has given that has moved on since
    Holder giver = holder;
    giver.returns = false;
    const Tile& gave = tiles_[{giver, instance.second}];
    const bool is_still_there = (gave.box == box ? gave.before : gave.ranges) == ranges;
    std::erase_if(fresh, [&](Element element) {
      const auto first = gave.given.find(element);
      return is_still_there || first == gave.given.end() || first->second == box;
    });
  } else if (holder.is_output) {
    for (const Element element : points) tile.given.try_emplace(element, box);
  }
  tile.box = box;
  tile.before = std::exchange(tile.ranges, std::move(ranges));
  tile.points = std::move(points);
  return fresh;
}

}  // namespace sluice::referee
