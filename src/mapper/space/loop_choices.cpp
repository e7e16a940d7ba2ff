#include "loop_choices.h"

namespace sluice::fused {

LoopRules loop_rules(const EinsumShape& shape, const Template& templ, const LoopPlace& place) {
  LoopRules rules;
  if (!place.fused || shape.row_loops.empty()) return rules;
  for (const Slot& slot : templ.slots) {
    if (!slot.backing || slot.gap <= place.gap) continue;
    const LocalTensor& tensor = shape.tensors[slot.tensor];
    rules.rows_only = rules.rows_only || tensor.rows[place.variable];
    rules.hands_on = rules.hands_on || tensor.is_output;
  }
  return rules;
}

}  // namespace sluice::fused
