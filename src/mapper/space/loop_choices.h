#pragma once

#include <cstdint>

#include "mapper/shape/trip_choices.h"
#include "template.h"

namespace sluice::fused {

/// What a template leaves of the choices for one of its loops (row_loops.h).
struct LoopRules {
  /// A tensor backed further in is handed on in rows along the loop: with any other tiles than a
  /// frame's nobody could share it.
  bool rows_only = false;
  /// The output is backed further in, so that the tiles may follow from who takes it.
  bool hands_on = false;
};

LoopRules loop_rules(const EinsumShape& shape, const Template& templ, const LoopPlace& place);

/// The tile in which a loop stands.
struct EnclosingTile {
  std::int64_t unit;  ///< the tile inside must divide it
  std::int64_t size;
  bool whole;  ///< no other loop over the variable stands further out
};

/// Calls `body` with everything that a loop (a LoopPlace or a ClassLoop) may run inside a tile: 1
/// first, then what divides, then uneven ones.
template <class Loop, class Body>
void for_each_choice(TripChoices& choices, const EinsumShape& shape, ImperfectFactors wish,
                     const Loop& loop, const LoopRules& rules, const EnclosingTile& tile,
                     const Body& body) {
  for (std::int64_t trips : choices.inside(tile.unit, tile.size))
    if (!rules.rows_only || trips == 1) body(trips);
  if (!tile.whole) return;
  const bool imperfect =
      loop.fused ? wish == ImperfectFactors::kAll : wish != ImperfectFactors::kNone;
  if (imperfect && !rules.rows_only && shape.tiles_freely(loop.variable))
    for (std::int64_t trips : choices.imperfect(shape.sizes[loop.variable], shape.odd_fanouts))
      body(trips);
  if (!loop.fused || loop.spatial) return;
  for (const RowLoop& rows : shape.row_loops)
    if (rows.variable == loop.variable && (rows.even || rules.hands_on))
      for (std::int64_t trips : rows.trips) body(trips);
}

}  // namespace sluice::fused
