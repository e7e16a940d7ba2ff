#include "node_share.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// The first (the end of the) positions of the smaller plane whose windows reach into a part of the
/// larger one that begins (ends) there. Windows are never cut at the rim.
std::int64_t first_reaching(std::int64_t begin, std::int64_t window, std::int64_t stride) {
  return begin < window ? 0 : ceil_divide(begin + 1 - window, stride);
}
std::int64_t end_reaching(std::int64_t end, std::int64_t extent, std::int64_t window,
                          std::int64_t stride) {
  return extent - (end + 1) < window ? (extent - window) / stride : end / stride;
}

/// Rows of the input that some rows of the output need.
Interval input_side(const LayerShape& layer, const Interval& output, std::int64_t extent,
                    std::int64_t window) {
  if (layer.is_gradient)
    return {first_reaching(output.begin, window, layer.stride),
            end_reaching(output.end, extent, window, layer.stride)};
  const std::int64_t begin = output.begin * layer.stride;
  return {begin, std::max(begin, (output.end - 1) * layer.stride + window)};
}

Interval input_channels(const LayerShape& layer, const Partition& partition, const PartIndex& index,
                        const Interval& output) {
  if (layer.rule == ChannelRule::kAllToAll)
    return part_of(Interval{0, layer.channels_in}, number_of(partition, kByInputChannels, index),
                   partition.parts[kByInputChannels].size());
  if (layer.is_gradient)
    return {first_reaching(output.begin, layer.operands, layer.operands),
            end_reaching(output.end, layer.channels_out, layer.operands, layer.operands)};
  if (layer.rule == ChannelRule::kDepthwise) return output;
  const std::int64_t before = layer.operands / 2;
  return {std::max<std::int64_t>(0, output.begin - before),
          std::min(layer.channels_in, output.end + layer.operands - before)};
}

}  // namespace

Box whole_output(const LayerShape& layer, std::int64_t batch) {
  return {{Interval{0, batch}, Interval{0, layer.channels_out}, Interval{0, layer.output.h},
           Interval{0, layer.output.w}}};
}

NodeShare node_share(const LayerShape& layer, std::int64_t batch, const Partition& partition,
                     const PartIndex& index) {
  NodeShare share;
  share.output = part_of(partition, whole_output(layer, batch), index);
  const Interval& channels = share.output.sides[kChannelSide];
  share.input.sides[kSampleSide] = share.output.sides[kSampleSide];
  share.input.sides[kChannelSide] = input_channels(layer, partition, index, channels);
  share.input.sides[kRowSide] =
      input_side(layer, share.output.sides[kRowSide], layer.output.h, layer.window.h);
  share.input.sides[kColumnSide] =
      input_side(layer, share.output.sides[kColumnSide], layer.output.w, layer.window.w);
  if (layer.rule == ChannelRule::kAllToAll)
    share.weight_inputs = share.input.sides[kChannelSide];
  else if (layer.rule == ChannelRule::kDepthwise)
    share.weight_inputs = {0, 1};
  if (layer.rule != ChannelRule::kLocal) share.weight_outputs = channels;
  return share;
}

}  // namespace sluice::kapla
