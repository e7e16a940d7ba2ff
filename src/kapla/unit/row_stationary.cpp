#include "row_stationary.h"

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

double words(std::int64_t count) { return static_cast<double>(count); }

/// Copies that need a part of the larger (smaller) plane of their own.
std::int64_t copies_of_plane(const LayerShape& layer, const Copies& copies, bool larger) {
  const bool by_output = layer.is_gradient == (larger && layer.rule == ChannelRule::kAllToAll);
  return copies.samples * (by_output ? copies.channels_out : copies.channels_in);
}

std::int64_t weight_words(const LayerShape& layer, const RowStationaryUnit& unit) {
  const Copies& copies = unit.copies;
  if (layer.rule == ChannelRule::kLocal) return 0;
  if (layer.rule == ChannelRule::kAllToAll)
    return unit.window.size() * copies.channels_in * copies.channels_out;
  return unit.window.size() * (layer.is_gradient ? copies.channels_in : copies.channels_out);
}

/// How much more of the larger plane the folds read than there is: rows that two of them need.
double amplification(const LayerShape& layer, const RowStationaryUnit& unit, std::int64_t row_set) {
  const std::int64_t read = needed(row_set, layer.stride, unit.window.h) * unit.fold.w;
  return words(read) / words(needed(unit.rows, layer.stride, unit.window.h));
}

PerOperand<double> array_words(const LayerShape& layer, const RowStationaryUnit& unit,
                               std::int64_t row_set) {
  const std::int64_t elements = ceil_divide(unit.window.h, unit.fold.h) * row_set * unit.fold.h;
  const std::int64_t deliveries = elements * unit.copies.all();
  const std::int64_t weight_row = layer.rule == ChannelRule::kLocal ? 0 : unit.window.w;
  return {words(weight_row * deliveries),
          words(needed(unit.columns, layer.stride, unit.window.w) * deliveries),
          words(unit.columns * deliveries)};
}

std::int64_t cycles_of(const LayerShape& layer, const RowStationaryUnit& unit,
                       bool window_unit_time) {
  const std::int64_t row =
      window_unit_time ? unit.window.size() : unit.fold.h * unit.window.w * unit.columns;
  return layer.operands * row;
}

PerOperand<bool> reusable_in_registers(const LayerShape& layer, const RowStationaryUnit& unit) {
  const bool window_is_row = unit.window.w == needed(unit.columns, layer.stride, unit.window.w);
  return {unit.fold.h == 1, window_is_row, unit.columns == 1};
}

}  // namespace

UnitPass row_stationary_pass(const LayerShape& layer, const RowStationaryUnit& unit,
                             bool window_unit_time) {
  const std::int64_t row_set = ceil_divide(unit.rows, unit.fold.w);
  const std::int64_t larger = needed(row_set, layer.stride, unit.window.h) *
                              needed(unit.columns, layer.stride, unit.window.w) *
                              unit.operands_read;
  UnitPass pass;
  pass.access[kDram] = {words(weight_words(layer, unit)),
                        words(larger * copies_of_plane(layer, unit.copies, true)) /
                            amplification(layer, unit, row_set),
                        words(row_set * unit.columns * copies_of_plane(layer, unit.copies, false))};
  const double folds = words(unit.fold.h);
  pass.access[kGlobalBuffer] = {pass.access[kDram][kWeights], pass.access[kDram][kInput] * folds,
                                pass.access[kDram][kOutput] * folds};
  pass.access[kArrayBus] = array_words(layer, unit, row_set);
  pass.operations =
      words(row_set * unit.columns * unit.window.size() * layer.operands * unit.copies.all());
  pass.access[kRegisters] = {layer.rule == ChannelRule::kLocal ? 0 : pass.operations,
                             pass.operations, pass.operations};
  pass.reusable = reusable_in_registers(layer, unit);
  pass.cycles = cycles_of(layer, unit, window_unit_time);
  return pass;
}

}  // namespace sluice::kapla
