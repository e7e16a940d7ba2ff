#include "layer_shape.h"

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

ChannelRule rule_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::kConvolution:
    case LayerKind::kFullyConnected:
      return ChannelRule::kAllToAll;
    case LayerKind::kDepthwise:
      return ChannelRule::kDepthwise;
    case LayerKind::kInput:
    case LayerKind::kPool:
    case LayerKind::kElementwise:
    case LayerKind::kLocal:
      return ChannelRule::kLocal;
  }
  SLUICE_CHECK(false, "a kind of layer without a rule");
}

}  // namespace

LayerShape layer_shape(const NetworkLayer& layer) {
  SLUICE_CHECK(!is_input(layer), "an input is not computed");
  LayerShape shape;
  shape.rule = rule_of(layer.kind);
  shape.is_gradient = layer.gradient != Gradient::kNone;
  shape.written = layer.gradient == Gradient::kOfWeights ? kWeights : kOutput;
  shape.channels_in = layer.channels_in;
  shape.channels_out = layer.channels_out;
  shape.input = {input_height(layer), input_width(layer)};
  shape.output = {layer.height, layer.width};
  shape.window = {layer.window_height, layer.window_width};
  shape.stride = layer.stride;
  shape.operands = operands(layer);
  return shape;
}

std::int64_t operations_of(const LayerShape& layer, const Extent& plane, std::int64_t batch) {
  const std::int64_t summed = layer.rule == ChannelRule::kAllToAll ? layer.channels_in : 1;
  return plane.size() * batch * layer.channels_out * summed * layer.operations_each();
}

std::int64_t needed(std::int64_t n, std::int64_t stride, std::int64_t window) {
  return (n - 1) * stride + window;
}

bool depends_on(const LayerShape& layer, Operand operand, Loop loop) {
  const bool all_to_all = layer.rule == ChannelRule::kAllToAll;
  switch (operand) {
    case kWeights:
      if (layer.rule == ChannelRule::kDepthwise) return loop == kOutputChannels;
      return all_to_all && loop != kSamples;
    case kInput:
      return loop == kSamples || loop == (all_to_all ? kInputChannels : kOutputChannels);
    case kOutput:
      return loop == kSamples || loop == kOutputChannels;
  }
  SLUICE_CHECK(false, "a fourth operand");
}

std::int64_t dependent_product(const LayerShape& layer, Operand operand,
                               const PerLoop<std::int64_t>& counts) {
  std::int64_t product = 1;
  for (const Loop loop : kLoops)
    if (depends_on(layer, operand, loop)) product = checked_multiply(product, counts[loop]);
  return product;
}

std::int64_t independent_product(const LayerShape& layer, Operand operand,
                                 const PerLoop<std::int64_t>& counts) {
  std::int64_t product = 1;
  for (const Loop loop : kLoops)
    if (!depends_on(layer, operand, loop)) product = checked_multiply(product, counts[loop]);
  return product;
}

}  // namespace sluice::kapla
