#include "sunk_loops.h"

namespace sluice::fused {
namespace {

/// A spatial loop over a memory's own instances, or one whose tiles of the tensor are disjoint.
bool passes(const EinsumShape& shape, const Slot& slot, const LoopPlace& place) {
  if (place.spatial) return place.component == slot.component;
  return !place.fused && shape.sinks(slot.tensor, place.variable);
}

}  // namespace

std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot) {
  std::vector<std::uint32_t> sunk;
  if (slot.backing) return sunk;
  const std::int32_t own = slot.loop_above_node();
  const std::uint32_t gap = own < 0 ? slot.gap : templ.loops[static_cast<std::size_t>(own)].gap;
  for (std::uint32_t l = 0; l < templ.loops.size(); ++l) {
    if (templ.loops[l].gap != gap) continue;
    const bool is_own = static_cast<std::int32_t>(l) == own;
    if (!is_own && !passes(shape, slot, templ.loops[l])) break;
    sunk.push_back(l);
    if (is_own) break;
  }
  return sunk;
}

}  // namespace sluice::fused
