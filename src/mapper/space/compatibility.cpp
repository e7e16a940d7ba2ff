#include "compatibility.h"

#include <algorithm>
#include <optional>

#include "mapper/common/network_cost.h"
#include "mapper/shape/trip_choices.h"
#include "model/tree/finish_nests.h"

namespace sluice::fused {

FusedLoop fused_loop(const EinsumShape& shape, const LoopPlace& place, std::int64_t trips,
                     std::int64_t tile) {
  FusedLoop loop{
      place.variable, place.spatial, place.component, place.dimension, trip_count(trips), tile, 0};
  if (walks_rows(trips))
    loop.tile = shared_rows(row_frame(trips), row_loop(shape, row_frame(trips)).size / loop.trips);
  return loop;
}

std::int32_t shared_rank(const EinsumShape& shape, std::size_t tensor, const FusedLoop& loop) {
  if (const std::int64_t frame = frame_of(loop.tile); frame > 0)
    return row_loop(shape, frame).rank_of[tensor];
  return shape.shared_rank(tensor, loop.variable, loop.spatial);
}

bool settles_routes(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<std::int64_t>& trips) {
  const BoundCompute& compute = problem[shape.einsum].computes[templ.compute];
  for (std::size_t l = 0; l < templ.loops.size(); ++l) {
    const LoopPlace& loop = templ.loops[l];
    if (!loop.spatial || !loop.fused || trips[l] <= 1 ||
        !has_routes(problem, compute, loop.component))
      continue;
    for (std::size_t other = 0; other < l; ++other) {
      const LoopPlace& before = templ.loops[other];
      if (before.spatial && before.fused && trips[other] > 1 &&
          before.component == loop.component && before.dimension == loop.dimension)
        return false;
    }
  }
  return true;
}

bool is_redundant(const Template& templ, const std::vector<std::int64_t>& trips) {
  for (std::size_t l = 0; l < templ.loops.size(); ++l)
    if (trips[l] > 1 && lets_sink(templ, trips, l)) return true;
  for (std::size_t l = 0; l < templ.loops.size(); ++l) {
    const LoopPlace& leader = templ.loops[l];
    if (!leader.leads) continue;
    bool is_first = true, serves = false;
    bool below = false;
    for (const Item& item : templ.items) {
      if (!item.is_loop || templ.loops[item.index].gap != leader.gap) continue;
      below = below || item.index == l;
      if (trips[item.index] == 1) {
        if (item.index == l) return true;
        continue;
      }
      is_first = is_first && below;
      serves = serves || templ.loops[item.index].late;
    }
    if (!is_first || !serves) return true;
  }
  return false;
}

namespace {

/// Bits of a backing node's tile: of the Einsum that holds most.
double tile_bits(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                 const Slot& slot, const std::vector<std::int64_t>& trips) {
  std::vector<std::int64_t> tile(shape.sizes);
  std::vector<std::int64_t> rows(shape.sizes.size(), 0);  // of the output, held for who reads them
  std::vector<bool> is_cut(shape.sizes.size(), false);    // later rows may be as many as there are
  for (std::size_t l = 0; l < templ.loops.size(); ++l)
    if (templ.loops[l].fused && templ.loops[l].gap < slot.gap) {
      const std::uint32_t v = templ.loops[l].variable;
      tile[v] = tile_inside(tile[v], trips[l]);
      is_cut[v] = is_cut[v] || trips[l] != 1;
      if (walks_rows(trips[l]) && shape.tensors[slot.tensor].is_output)
        rows[v] = rows_of(trips[l]).held;
    }
  double volume = 0;
  std::vector<std::int64_t> cut;  // per rank: extent of the tile where loops above cut it, else 0
  for (const BoundAccess& held : bound.held) {
    if (held.tensor != static_cast<int>(slot.tensor)) continue;
    double part = 1;
    cut.assign(held.index.size(), 0);
    for (std::size_t r = 0; r < held.index.size(); ++r) {
      const BoundIndex& index = held.index[r];
      const std::int64_t extent = tile_extent(index, tile.data());
      bool tiled = false;
      for (const BoundTerm& term : index.terms) {
        const auto v = static_cast<std::size_t>(term.variable);
        tiled = tiled || is_cut[v];
      }
      if (tiled) cut[r] = backing_extent(index, extent);
      if (tiled && index.terms.size() == 1)
        cut[r] = std::max(cut[r], rows[static_cast<std::size_t>(index.terms[0].variable)]);
      part *= static_cast<double>(tiled ? cut[r] : index.whole);
    }
    volume += part;
  }
  const std::size_t component = slot.component.index();
  double bits = volume * bound.components[component].bits_per_value[slot.tensor];
  for (const OtherHolder& other : shape.tensors[slot.tensor].other_holders) {
    double theirs = other.bits[component];
    for (std::size_t r = 0; r < cut.size(); ++r)
      theirs *= static_cast<double>(cut[r] > 0 ? cut[r] : other.whole[r]);
    bits = std::max(bits, theirs);
  }
  return bits;
}

bool slides_under(const Template& templ, std::uint32_t loop) {
  return std::any_of(templ.slots.begin(), templ.slots.end(), [&](const Slot& slot) {
    return slot.sliding_loop == static_cast<std::int32_t>(loop);
  });
}

}  // namespace

bool may_be_permuted(const Template& templ, std::uint32_t loop, std::uint32_t next) {
  const LoopPlace &above = templ.loops[loop], &below = templ.loops[next];
  // What leads, and what a window slides over, stays directly below its storage node.
  return above.gap == below.gap && above.block == below.block && !above.leads &&
         !slides_under(templ, loop);
}

std::uint64_t copied_above(const BoundProblem& problem, const EinsumShape& shape,
                           const Template& templ, std::uint32_t loop) {
  std::uint64_t result = 0;
  for (const Slot& slot : templ.slots) {
    const LocalTensor& tensor = shape.tensors[slot.tensor];
    if (tensor.shared && tensor.intermediate && !slot.backing &&
        slot.gap <= templ.loops[loop].gap && slot.sliding_loop != static_cast<std::int32_t>(loop) &&
        problem.arch[slot.component].is_memory())
      result |= std::uint64_t{1} << slot.tensor;
  }
  return result;
}

namespace {

void add_loops(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
               const std::vector<std::int64_t>& trips, Compatibility* result) {
  std::vector<std::int64_t> tile(shape.sizes);
  std::optional<std::uint32_t> last;
  for (const Item& item : templ.items) {
    if (!item.is_loop || !templ.loops[item.index].fused || trips[item.index] == 1) continue;
    const LoopPlace& place = templ.loops[item.index];
    tile[place.variable] = tile_inside(tile[place.variable], trips[item.index]);
    result->stop_before.push_back(!last || !may_be_permuted(templ, *last, item.index));
    last = item.index;
    FusedLoop& loop = result->loops.emplace_back(
        fused_loop(shape, place, trips[item.index], tile[place.variable]));
    loop.copied_above = copied_above(problem, shape, templ, item.index);
  }
}

}  // namespace

double backing_bits(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const Slot& slot, const std::vector<std::int64_t>& trips) {
  const BoundEinsum& bound = problem[shape.einsum];
  const double bits = tile_bits(bound, shape, templ, slot, trips);
  if (slot.persistent) return bits * shape.tensors[slot.tensor].instances;
  bool moves = false;
  for (std::size_t l = 0; l < templ.loops.size(); ++l)
    moves = moves || (templ.loops[l].fused && templ.loops[l].gap < slot.gap &&
                      !templ.loops[l].spatial && trips[l] > 1);
  return moves && is_double_buffered(problem.arch[slot.component]) ? 2 * bits : bits;
}

std::uint32_t kept_by(const EinsumShape& shape, const Template& templ, const Slot& slot) {
  const std::vector<KeptCopy>& copies = shape.tensors[slot.tensor].kept_copies;
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < copies.size(); ++i)
    for (const Slot& other : templ.slots)
      if (other.backing && other.component == slot.component && copies[i].of_via < 0 &&
          static_cast<std::int32_t>(other.tensor) == copies[i].via)
        result |= std::uint32_t{1} << i;
  return result;
}

namespace {

/// Rooms that tensors have because the next one on the way, in the same memory, has them.
void pass_rooms_on(const EinsumShape& shape, std::vector<Backing>* backings) {
  for (Backing& backing : *backings) {
    const std::vector<KeptCopy>& copies = shape.tensors[backing.tensor].kept_copies;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i].of_via < 0) continue;
      for (const Backing& via : *backings)
        if (static_cast<std::int32_t>(via.tensor) == copies[i].via &&
            via.component == backing.component && (via.kept_by >> copies[i].of_via & 1U) != 0)
          keep(shape, std::uint32_t{1} << i, &backing);
    }
  }
}

}  // namespace

std::vector<std::vector<Backing>> kept_in_other_ways(const EinsumShape& shape,
                                                     const std::vector<Backing>& backings) {
  std::vector<std::vector<Backing>> ways{backings};
  for (std::size_t b = 0; b < backings.size(); ++b) {
    const std::vector<KeptCopy>& copies = shape.tensors[backings[b].tensor].kept_copies;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i].via >= 0) continue;  // known, or follows
      for (std::size_t w = ways.size(); w-- > 0;) {
        ways.push_back(ways[w]);
        keep(shape, std::uint32_t{1} << i, &ways.back()[b]);
      }
    }
  }
  for (std::vector<Backing>& way : ways)
    for (std::size_t step = 1; step < way.size(); ++step) pass_rooms_on(shape, &way);
  return ways;
}

void keep(const EinsumShape& shape, std::uint32_t kept_by, Backing* backing) {
  const std::vector<KeptCopy>& copies = shape.tensors[backing->tensor].kept_copies;
  const auto room = [&](std::uint32_t by) {
    double most = 0;
    for (std::size_t i = 0; i < copies.size(); ++i)
      if (by >> i & 1U) most = std::max(most, copies[i].bits[backing->component.index()]);
    return most;
  };
  const double before = room(backing->kept_by);
  backing->kept_by |= kept_by;
  backing->bits = std::max(0.0, backing->bits - (room(backing->kept_by) - before));
}

namespace {

/// The outermost loop from one step of which to the next a backing slot's tensor has values in
/// common (slices of a state, rows of a window), by index into the fused loops, as add_loops()
/// lists them; or -1.
std::int32_t carried_by(const BoundProblem& problem, const EinsumShape& shape,
                        const Template& templ, const Slot& slot,
                        const std::vector<std::int64_t>& trips) {
  const LocalTensor& tensor = shape.tensors[slot.tensor];
  if (!problem.roles.sole_maker(tensor.id)) return -1;
  std::int32_t index = 0;
  for (const Item& item : templ.items) {
    if (!item.is_loop || !templ.loops[item.index].fused || trips[item.index] == 1) continue;
    const LoopPlace& loop = templ.loops[item.index];
    const std::int64_t times = trips[item.index];
    const bool carries = walks_rows(times) ? row_loop(shape, row_frame(times)).carries[slot.tensor]
                                           : tensor.stepped[loop.variable];
    if (carries && !loop.spatial && loop.gap < slot.gap) return index;
    ++index;
  }
  return -1;
}

}  // namespace

Compatibility make_compatibility(const BoundProblem& problem, const EinsumShape& shape,
                                 const Template& templ, const std::vector<std::int64_t>& trips) {
  Compatibility result;
  add_loops(problem, shape, templ, trips, &result);
  for (const Slot& slot : templ.slots) {
    if (!slot.shared) continue;
    Backing backing{slot.tensor, slot.component, 0, 0, slot.persistent};
    for (std::size_t l = 0; l < templ.loops.size(); ++l)
      backing.level +=
          templ.loops[l].fused && trips[l] > 1 && templ.loops[l].gap < slot.gap ? 1 : 0;
    backing.bits = backing_bits(problem, shape, templ, slot, trips);
    keep(shape, kept_by(shape, templ, slot), &backing);
    backing.carried_by = carried_by(problem, shape, templ, slot, trips);
    result.backings.push_back(backing);
  }
  std::sort(result.backings.begin(), result.backings.end(),
            [](const Backing& a, const Backing& b) { return a.tensor < b.tensor; });
  return result;
}

bool steps_together(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                    const std::vector<std::int64_t>& trips) {
  for (std::size_t l = 0; l < templ.loops.size(); ++l)
    if (templ.loops[l].steps) return trips[l] == shape.sizes[templ.loops[l].variable];
  if (!shape.recurrence.step || !shape.recurrence.is_member()) return true;
  Compatibility loops;
  add_loops(problem, shape, templ, trips, &loops);
  for (std::size_t l = 0; l < loops.loops.size(); ++l) {
    const FusedLoop& loop = loops.loops[l];
    if (shape.variables[loop.variable] == *shape.recurrence.step)
      return !loop.spatial && loop.tile == 1;
  }
  return false;
}

std::vector<std::int64_t> compatibility_key(const Compatibility& c) {
  std::vector<std::int64_t> key;
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    const FusedLoop& loop = c.loops[l];
    key.insert(key.end(),
               {loop.variable, loop.spatial, static_cast<std::int64_t>(loop.component.index()),
                loop.dimension, loop.trips, loop.tile, c.stop_before[l],
                static_cast<std::int64_t>(loop.copied_above)});
  }
  for (const Backing& b : c.backings)
    key.insert(key.end(), {b.tensor, static_cast<std::int64_t>(b.component.index()), b.level,
                           b.persistent, b.kept_by});
  return key;
}

}  // namespace sluice::fused
