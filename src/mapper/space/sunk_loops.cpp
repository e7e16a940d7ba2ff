#include "sunk_loops.h"

namespace sluice::fused {
namespace {

/// A spatial loop over a memory's own instances, or one whose tiles of the tensor are disjoint.
bool passes(const EinsumShape& shape, const Slot& slot, const LoopPlace& place) {
  if (place.spatial) return place.component == slot.component;
  return !place.fused && shape.sinks(slot.tensor, place.variable);
}

/// `stops(l)`: whether a loop that the slot does not pass stops it.
template <class Stops>
std::vector<std::uint32_t> sunk_loops_where(const EinsumShape& shape, const Template& templ,
                                            const Slot& slot, const Stops& stops) {
  std::vector<std::uint32_t> sunk;
  if (slot.backing) return sunk;
  const std::int32_t own = slot.loop_above_node();
  const std::uint32_t gap = own < 0 ? slot.gap : templ.loops[static_cast<std::size_t>(own)].gap;
  for (std::uint32_t l = 0; l < templ.loops.size(); ++l) {
    if (templ.loops[l].gap != gap) continue;
    const bool is_own = static_cast<std::int32_t>(l) == own;
    if (!is_own && !passes(shape, slot, templ.loops[l])) {
      if (stops(l)) break;
      continue;
    }
    sunk.push_back(l);
    if (is_own) break;
  }
  return sunk;
}

}  // namespace

std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot) {
  return sunk_loops_where(shape, templ, slot, [](std::uint32_t) { return true; });
}

std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot, const std::vector<std::int64_t>& trips) {
  return sunk_loops_where(shape, templ, slot, [&](std::uint32_t l) { return trips[l] != 1; });
}

std::vector<FurtherSink> further_sinks(const EinsumShape& shape, const Template& templ,
                                       const Slot& slot) {
  std::vector<FurtherSink> sinks;
  if (slot.backing || slot.loop_above_node() >= 0) return sinks;
  FurtherSink next;
  bool has_more = false;  // than the one before
  for (std::uint32_t l = 0; l < templ.loops.size(); ++l) {
    const LoopPlace& place = templ.loops[l];
    if (place.gap != slot.gap) continue;
    if (passes(shape, slot, place)) {
      next.sunk.push_back(l);
      has_more |= !next.stopping.empty() && !place.spatial && !place.stopped && !place.late;
    } else {
      if (has_more) sinks.push_back(next);
      has_more = false;
      next.stopping.push_back(l);
    }
  }
  if (has_more) sinks.push_back(next);
  return sinks;
}

}  // namespace sluice::fused
