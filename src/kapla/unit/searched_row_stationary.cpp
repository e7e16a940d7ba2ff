#include <utility>

#include "array_copies.h"
#include "row_stationary.h"
#include "sluice/support/checked.h"
#include "solver_passes.h"

namespace sluice::kapla {
namespace {

/// Whether the tensors of a gradient change places. The artifact exchanges those of pools twice.
bool exchanges(const LayerShape& layer, const Compatibility& compatibility) {
  if (!layer.is_gradient) return false;
  return layer.rule != ChannelRule::kLocal || !compatibility.searched_pool_unswapped;
}

}  // namespace

PassAnswer searched_row_stationary(const PassQuestion& question) {
  const LayerShape& layer = question.layer;
  const Compatibility& compatibility = question.run.compatibility;
  const Extent parts = question.scheme.partition.parts[kByPlane];
  RowStationaryUnit unit;
  unit.rows = ceil_divide(layer.slid().h, parts.h);
  unit.columns = ceil_divide(layer.slid().w, parts.w);
  unit.window = layer.window;
  unit.fold =
      folded_into_room(folds_of({unit.window.h, unit.rows}, question.run.machine.array)).fold;
  const auto copies = copies_of(question, ceil_divide(unit.rows, unit.fold.w));
  if (!copies) return tl::unexpected(copies.error());
  unit.copies = *copies;
  if (compatibility.one_operand_eltwise) unit.operands_read = layer.operands;
  UnitPass pass = row_stationary_pass(layer, unit, compatibility.window_unit_time);
  if (exchanges(layer, compatibility)) exchange_input_and_output(pass);
  if (layer.is_gradient && layer.rule != ChannelRule::kDepthwise)
    std::swap(pass.reusable[kInput], pass.reusable[kOutput]);
  return pass;
}

}  // namespace sluice::kapla
