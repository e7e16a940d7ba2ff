#include <algorithm>
#include <limits>

#include "exhaustive_passes.h"
#include "kapla/common/numbers.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// The window over the rows of the array, the rows of the plane over its columns; spare rows take
/// folds.
Folds folds_on(const LayerShape& layer, const Extent& array) {
  Folds folds = folds_of({layer.window.h, layer.output.h}, array);
  const std::int64_t below = std::min(folds.repeat.h, folds.fold.w);
  folds.fold.w = ceil_divide(folds.fold.w, below);
  folds.repeat.h /= below;
  return folds;
}

/// Words of one fold: an average one, or the largest, which has whole rows.
PerOperand<double> words_of_fold(const LayerShape& layer, double rows) {
  const double read = (rows - 1) * real(layer.stride) + real(layer.window.h);
  const double weights = layer.rule == ChannelRule::kLocal ? 0.0 : real(layer.window.size());
  return {weights, read * real(layer.input.w), rows * real(layer.output.w)};
}

/// Local layers read each value once for all folds of the window.
double input_folds(const LayerShape& layer, const Folds& folds) {
  return layer.rule == ChannelRule::kLocal ? 1.0 : real(folds.fold.h);
}

PerOperand<double> bus_words(const LayerShape& layer, const Folds& folds) {
  const Extent set{ceil_divide(layer.window.h, folds.fold.h),
                   ceil_divide(layer.output.h, folds.fold.w)};
  const double elements = real(set.size());
  const double window = real(folds.fold.h);
  const double row = layer.rule == ChannelRule::kLocal ? 0.0 : real(layer.window.w);
  return {row * elements * window, real(layer.input.w) * elements * input_folds(layer, folds),
          real(layer.output.w) * elements * window};
}

SinglePass single_pass(const LayerShape& layer, const Folds& folds, bool keeps_registers) {
  const std::int64_t row_set = ceil_divide(layer.output.h, folds.fold.w);
  SinglePass pass;
  pass.access[kDram] = words_of_fold(layer, real(layer.output.h) / real(folds.fold.w));
  const PerOperand<double>& words = pass.access[kDram];
  pass.access[kGlobalBuffer] = {words[kWeights], words[kInput] * input_folds(layer, folds),
                                words[kOutput] * real(folds.fold.h)};
  pass.access[kArrayBus] = bus_words(layer, folds);
  pass.operations = words[kOutput] * real(layer.operations_each());
  pass.access[kRegisters] = {layer.rule == ChannelRule::kLocal ? 0 : pass.operations,
                             pass.operations, pass.operations};
  pass.buffer_words = words_of_fold(layer, real(row_set));
  pass.reusable = {
      keeps_registers || folds.fold.h == 1,
      keeps_registers || layer.window.w == needed(row_set, layer.stride, layer.window.h),
      keeps_registers || layer.output.w == 1};
  pass.cycles = folds.fold.h * layer.window.w * layer.output.w * layer.operands;
  return pass;
}

Replication of_channels(const NodeLayer& node, const Folds& folds) {
  const LayerShape& layer = node.shape;
  const std::int64_t channels = std::min(folds.repeat.size(), layer.channels_out);
  Replication copies;
  copies.steps = {1, ceil_divide(layer.channels_out, channels), node.batch * folds.fold.w};
  copies.full[kOutputChannels] =
      real(layer.channels_out) / real(channels) / real(copies.steps[kOutputChannels]);
  copies.copies = channels;
  copies.copies_of = {layer.rule == ChannelRule::kLocal ? 0 : channels, channels, channels};
  return copies;
}

Replication of_both(const NodeLayer& node, const Folds& folds, std::int64_t inputs,
                    std::int64_t outputs) {
  const LayerShape& layer = node.shape;
  Replication copies;
  copies.steps = {ceil_divide(layer.channels_in, inputs), ceil_divide(layer.channels_out, outputs),
                  node.batch * folds.fold.w};
  copies.full = {real(layer.channels_in) / real(inputs) / real(copies.steps[kInputChannels]),
                 real(layer.channels_out) / real(outputs) / real(copies.steps[kOutputChannels]), 1};
  copies.copies = inputs * outputs;
  copies.copies_of = {inputs * outputs, inputs, outputs};
  return copies;
}

/// Copies down for input or output channels, across for output channels: each way that leaves no
/// more steps than those before it.
std::vector<Replication> replications(const NodeLayer& node, const Folds& folds) {
  const LayerShape& layer = node.shape;
  if (layer.rule != ChannelRule::kAllToAll) return {of_channels(node, folds)};
  std::vector<Replication> ways;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t down = 1; down <= folds.repeat.h; ++down) {
    if (folds.repeat.h % down != 0) continue;
    ways.push_back(of_both(node, folds, std::min(down, layer.channels_in),
                           std::min(folds.repeat.h / down * folds.repeat.w, layer.channels_out)));
    const auto& steps = ways.back().steps;
    const std::int64_t all = steps[0] * steps[1] * steps[2];
    if (all > fewest) ways.pop_back();
    fewest = std::min(fewest, all);
  }
  return ways;
}

}  // namespace

std::vector<TriedPass> exhaustive_row_stationary(const PassQuestion& question,
                                                 const NodeLayer& layer) {
  const Folds folds = folds_on(layer.shape, question.run.machine.array);
  // nn_dataflow itself takes all registers to hold what the next pass needs; KAPLA's copy asks.
  const bool keeps_registers = question.run.solver == "exhaustive-U";
  const SinglePass single = single_pass(layer.shape, folds, keeps_registers);
  std::vector<TriedPass> tried;
  for (const Replication& copies : replications(layer, folds))
    tried.push_back(replicated(layer, single, copies, true));
  return tried;
}

}  // namespace sluice::kapla
