#pragma once

#include <array>

#include "sluice/kapla/scheme.h"
#include "sluice/network/network.h"

namespace sluice::kapla {

/// How the channels of input and output are related.
enum class ChannelRule {
  kAllToAll,   ///< convolutions and fully connected layers
  kDepthwise,  ///< one to one, with weights
  kLocal       ///< one to one, or some to one, without weights
};

/// What the evaluator needs of a layer.
struct LayerShape {
  ChannelRule rule = ChannelRule::kAllToAll;
  bool is_gradient = false;
  Operand written = kOutput;  ///< W in gradients of weights
  std::int64_t channels_in = 1;
  std::int64_t channels_out = 1;
  Extent input;   ///< plane that it reads
  Extent output;  ///< plane that it writes
  Extent window;
  std::int64_t stride = 1;
  std::int64_t operands = 1;  ///< of elementwise and local layers

  /// The smaller of both planes: the window slides over the larger one.
  Extent slid() const { return is_gradient ? input : output; }
  /// Operations for each value of the smaller plane and each pair of channels (one channel).
  std::int64_t operations_each() const { return window.size() * operands; }
};

/// The shape of a layer that is no input.
LayerShape layer_shape(const NetworkLayer& layer);

/// Of all channels over a plane of the smaller size.
std::int64_t operations_of(const LayerShape& layer, const Extent& plane, std::int64_t batch);

/// Rows (columns) of the larger plane that `n` rows of the smaller one need.
std::int64_t needed(std::int64_t n, std::int64_t stride, std::int64_t window);

/// Whether the tensor is another one for each step of the loop.
bool depends_on(const LayerShape& layer, Operand operand, Loop loop);

/// Product of a count for each loop, over those that the tensor depends on (does not depend on).
std::int64_t dependent_product(const LayerShape& layer, Operand operand,
                               const PerLoop<std::int64_t>& counts);
std::int64_t independent_product(const LayerShape& layer, Operand operand,
                                 const PerLoop<std::int64_t>& counts);

constexpr std::array<Operand, 3> kOperands = {kWeights, kInput, kOutput};
constexpr std::array<Loop, 3> kLoops = {kInputChannels, kOutputChannels, kSamples};

}  // namespace sluice::kapla
