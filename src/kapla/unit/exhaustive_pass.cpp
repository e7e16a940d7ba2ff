#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exhaustive_passes.h"
#include "kapla/grid/partition.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

PerLoop<std::int64_t> all_steps(const Scheme& scheme) {
  PerLoop<std::int64_t> steps{1, 1, 1};
  for (const auto& level : scheme.blocking)
    for (const Loop loop : kLoops) steps[loop] = checked_multiply(steps[loop], level[loop]);
  return steps;
}

/// Sizes are written with 16 digits, and rounded on the way.
bool is_held(double words, double said) {
  constexpr double kRounding = 1e-9;
  return std::abs(words - said) <= kRounding * std::max(1.0, std::abs(said));
}

bool matches(const TriedPass& tried, const Scheme& scheme, const PerLoop<std::int64_t>& steps) {
  return tried.steps == steps && std::equal(tried.buffer_words.begin(), tried.buffer_words.end(),
                                            scheme.unit_size[0].begin(), is_held);
}

}  // namespace

NodeLayer node_layer(const PassQuestion& question) {
  const LayerShape& whole = question.layer;
  const auto& parts = question.scheme.partition.parts;
  const auto share = [](std::int64_t all, std::int64_t among) { return ceil_divide(all, among); };
  NodeLayer node{whole, share(question.run.batch, parts[kBySamples].size()), 1};
  LayerShape& shape = node.shape;
  shape.channels_in = share(whole.channels_in, parts[kByInputChannels].size());
  shape.channels_out = share(whole.channels_out, parts[kByOutputChannels].size());
  if (whole.is_gradient && whole.rule == ChannelRule::kAllToAll)
    std::swap(shape.channels_in, shape.channels_out);
  if (whole.rule != ChannelRule::kAllToAll) shape.channels_in = shape.channels_out;
  shape.is_gradient = false;
  shape.output = {share(whole.slid().h, parts[kByPlane].h),
                  share(whole.slid().w, parts[kByPlane].w)};
  shape.input = {needed(shape.output.h, shape.stride, shape.window.h),
                 needed(shape.output.w, shape.stride, shape.window.w)};
  const std::int64_t nodes = nodes_taken(question.scheme.partition).size();
  const std::int64_t done = operations_of(shape, shape.output, node.batch) * nodes;
  node.occupancy = static_cast<double>(operations_of(whole, whole.slid(), question.run.batch)) /
                   static_cast<double>(done);
  return node;
}

TriedPass replicated(const NodeLayer& layer, const SinglePass& single,
                     const Replication& replication, bool bus_for_each_copy) {
  const auto copies = static_cast<double>(replication.copies);
  const auto& full = replication.full;
  const double all_full = full[0] * full[1] * full[2];
  TriedPass tried;
  tried.steps = replication.steps;
  tried.pass.reusable = single.reusable;
  tried.pass.cycles = single.cycles;
  tried.pass.operations = single.operations * copies * layer.occupancy * all_full;
  for (const Operand operand : kOperands) {
    const auto held = static_cast<double>(replication.copies_of[operand]);
    double filled = 1;
    for (const Loop loop : kLoops)
      if (depends_on(layer.shape, operand, loop)) filled *= full[loop];
    tried.buffer_words[operand] = single.buffer_words[operand] * held;
    for (const Memory memory : {kDram, kGlobalBuffer, kArrayBus}) {
      const double sent = memory == kArrayBus && bus_for_each_copy ? copies : held;
      tried.pass.access[memory][operand] = single.access[memory][operand] * sent * filled;
    }
    tried.pass.access[kRegisters][operand] =
        single.access[kRegisters][operand] * copies * layer.occupancy * all_full;
  }
  return tried;
}

PassAnswer exhaustive_pass(const PassQuestion& question) {
  const NodeLayer layer = node_layer(question);
  const bool rows = question.run.mapping == ArrayMapping::kRowStationary;
  if (!rows && question.layer.is_gradient)
    return tl::unexpected(std::string("a systolic array computes no gradients"));
  const std::vector<TriedPass> tried =
      rows ? exhaustive_row_stationary(question, layer) : exhaustive_systolic(question, layer);
  const PerLoop<std::int64_t> steps = all_steps(question.scheme);
  for (const TriedPass& candidate : tried)
    if (matches(candidate, question.scheme, steps)) return candidate.pass;
  return tl::unexpected(fmt::format(
      "no pass of the array leaves {}, {} and {} steps (`tvals`) and holds {}, {} and {} words "
      "(`unit_size`)",
      steps[0], steps[1], steps[2], question.scheme.unit_size[0][0],
      question.scheme.unit_size[0][1], question.scheme.unit_size[0][2]));
}

}  // namespace sluice::kapla
