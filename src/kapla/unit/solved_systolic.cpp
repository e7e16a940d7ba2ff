#include <cmath>

#include "array_copies.h"
#include "kapla/common/numbers.h"
#include "sluice/support/checked.h"
#include "solver_passes.h"
#include "systolic.h"

namespace sluice::kapla {
namespace {

/// The layer, or part of it, that lies on the array.
struct OnArray {
  std::int64_t pixels = 1;    ///< that the folds down divide
  std::int64_t channels = 1;  ///< that the folds across divide
  Extent fold;
  Extent input;  ///< the plane whose values are read once
};

/// The pixels of a fold as a rectangle near to a square.
SystolicUnit unit_of(const OnArray& part) {
  const std::int64_t pixels = ceil_divide(part.pixels, part.fold.h);
  const std::int64_t rows = divisor_up_to(pixels, std::sqrt(real(pixels)));
  return {real(rows), real(pixels) / real(rows), real(part.channels) / real(part.fold.w)};
}

double systolic_amplification(const LayerShape& layer, const OnArray& part,
                              const SystolicUnit& unit) {
  const double read_rows = (unit.rows - 1) * real(layer.stride) + real(layer.window.h);
  const double read_columns = (unit.columns - 1) * real(layer.stride) + real(layer.window.w);
  return read_rows * read_columns * real(part.fold.h) / real(part.input.h) / real(part.input.w);
}

UnitPass pass_of(const LayerShape& layer, const OnArray& part, const Copies& copies) {
  const SystolicUnit unit = unit_of(part);
  const SystolicWords words = systolic_words(layer, unit);
  const bool all_to_all = layer.rule == ChannelRule::kAllToAll;
  const double input_copies = real(all_to_all ? copies.channels_in : copies.channels_out);
  const double weight_copies = all_to_all ? real(copies.channels_in) : 1.0;
  const double all = real(copies.all());
  UnitPass pass;
  pass.access[kDram] = {
      words.weights * weight_copies * real(copies.channels_out),
      words.input * input_copies * real(copies.samples) / systolic_amplification(layer, part, unit),
      words.output * real(copies.channels_out) * real(copies.samples)};
  pass.access[kGlobalBuffer] = pass.access[kDram];
  pass.access[kArrayBus] = {words.weights * all, words.input * all, words.output * all};
  pass.operations = words.operations * all;
  pass.access[kRegisters] = {layer.rule == ChannelRule::kLocal ? 0 : pass.operations,
                             pass.operations, pass.operations};
  pass.reusable = {false, false, true};
  pass.cycles = layer.operations_each();
  return pass;
}

constexpr const char* kNoGradients = "a systolic array computes no gradients";

}  // namespace

PassAnswer solved_systolic(const PassQuestion& question) {
  const LayerShape& layer = question.layer;
  if (layer.is_gradient) return tl::unexpected(kNoGradients);
  OnArray part{layer.output.size(), layer.channels_out, {}, layer.input};
  part.fold =
      folded_into_room(folds_of({part.pixels, part.channels}, question.run.machine.array)).fold;
  auto copies = copies_of(question, 1);
  if (!copies) return tl::unexpected(copies.error());
  if (layer.rule != ChannelRule::kAllToAll) copies->channels_in = 1;
  return pass_of(layer, part, *copies);
}

PassAnswer searched_systolic(const PassQuestion& question) {
  const LayerShape& layer = question.layer;
  if (layer.is_gradient) return tl::unexpected(kNoGradients);
  const Partition& partition = question.scheme.partition;
  const std::int64_t channels =
      ceil_divide(layer.channels_out, partition.parts[kByOutputChannels].size());
  const std::int64_t pixels = ceil_divide(layer.output.size(), partition.parts[kByPlane].size());
  const Extent plane{ceil_divide(layer.output.h, partition.parts[kByPlane].h),
                     ceil_divide(layer.output.w, partition.parts[kByPlane].w)};
  OnArray part{layer.output.size(), layer.channels_out, {}, {}};
  part.fold = folded_into_room(folds_of({pixels, channels}, question.run.machine.array)).fold;
  if (layer.rule == ChannelRule::kAllToAll) part.channels = channels;
  part.input = {needed(plane.h, layer.stride, layer.window.h),
                needed(plane.w, layer.stride, layer.window.w)};
  auto copies = copies_of(question, 1);
  if (!copies) return tl::unexpected(copies.error());
  if (layer.rule != ChannelRule::kAllToAll) copies->channels_in = copies->channels_out = 1;
  UnitPass pass = pass_of(layer, part, *copies);
  if (question.run.compatibility.searched_local_weights)
    pass.access[kRegisters][kWeights] = pass.operations;
  return pass;
}

}  // namespace sluice::kapla
