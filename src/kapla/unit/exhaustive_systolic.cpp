#include <algorithm>

#include "exhaustive_passes.h"
#include "kapla/common/numbers.h"
#include "sluice/support/checked.h"
#include "systolic.h"

namespace sluice::kapla {
namespace {

SinglePass systolic_single_pass(const LayerShape& layer, const Folds& folds) {
  const std::int64_t rows = divisor_up_to(folds.fold.h, real(folds.fold.h) / 2);
  const SystolicUnit unit{real(layer.output.h) / real(rows),
                          real(layer.output.w) / (real(folds.fold.h) / real(rows)),
                          real(layer.channels_out) / real(folds.fold.w)};
  const SystolicWords words = systolic_words(layer, unit);
  SinglePass pass;
  pass.buffer_words = {words.weights, words.input, words.output};
  for (const Memory memory : {kDram, kGlobalBuffer, kArrayBus})
    pass.access[memory] = pass.buffer_words;
  pass.operations = words.operations;
  pass.access[kRegisters] = {layer.rule == ChannelRule::kLocal ? 0 : words.operations,
                             words.operations, words.operations};
  pass.reusable = {false, false, true};
  pass.cycles = layer.operations_each();
  return pass;
}

/// Copies down take samples, across input channels.
Replication copies_of_inputs(const NodeLayer& node, const Folds& folds) {
  const std::int64_t inputs = folds.repeat.w;
  const std::int64_t samples = folds.repeat.h;
  const std::int64_t channels = node.shape.channels_in;
  Replication copies;
  copies.steps = {ceil_divide(channels, inputs), folds.fold.w,
                  ceil_divide(node.batch, samples) * folds.fold.h};
  copies.full = {
      real(channels) / real(inputs) / real(copies.steps[kInputChannels]), 1,
      real(node.batch) / real(samples) * real(folds.fold.h) / real(copies.steps[kSamples])};
  copies.copies = inputs * samples;
  copies.copies_of = {inputs, inputs * samples, samples};
  return copies;
}

Replication copies_of_outputs(const NodeLayer& node, const Folds& folds, std::int64_t samples,
                              std::int64_t channels) {
  Replication copies;
  copies.steps = {1, ceil_divide(folds.fold.w, channels),
                  ceil_divide(node.batch, samples) * folds.fold.h};
  copies.full = {
      1, real(folds.fold.w) / real(channels) / real(copies.steps[kOutputChannels]),
      real(node.batch) * real(folds.fold.h) / real(samples) / real(copies.steps[kSamples])};
  copies.copies = samples * channels;
  const std::int64_t weights = node.shape.rule == ChannelRule::kLocal ? 0 : channels;
  copies.copies_of = {weights, channels * samples, channels * samples};
  return copies;
}

std::vector<Replication> systolic_replications(const NodeLayer& node, const Folds& folds) {
  if (node.shape.rule == ChannelRule::kAllToAll) return {copies_of_inputs(node, folds)};
  std::vector<Replication> ways;
  for (std::int64_t down = 1; down <= folds.repeat.h; ++down)
    for (std::int64_t across = 1; across <= folds.repeat.w; ++across)
      if (folds.repeat.h % down == 0 && folds.repeat.w % across == 0)
        ways.push_back(copies_of_outputs(
            node, folds, std::min(down * across, node.batch),
            std::min(folds.repeat.h / down * (folds.repeat.w / across), node.shape.channels_out)));
  return ways;
}

}  // namespace

std::vector<TriedPass> exhaustive_systolic(const PassQuestion& question, const NodeLayer& layer) {
  const Folds folds =
      folds_of({layer.shape.output.size(), layer.shape.channels_out}, question.run.machine.array);
  const SinglePass single = systolic_single_pass(layer.shape, folds);
  std::vector<TriedPass> tried;
  for (const Replication& copies : systolic_replications(layer, folds))
    tried.push_back(replicated(layer, single, copies, false));
  return tried;
}

}  // namespace sluice::kapla
