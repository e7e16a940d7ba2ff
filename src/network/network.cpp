#include "sluice/network/network.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

std::int64_t product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) result = checked_multiply(result, factor);
  return result;
}

/// Window positions that a forward layer computes an output for.
std::int64_t positions(std::int64_t extent, std::int64_t window, std::int64_t stride) {
  return extent < window ? 0 : (extent - window) / stride + 1;
}

/// Input channels that each output value sums over.
std::int64_t summed_channels(const NetworkLayer& layer) {
  const bool sums_channels =
      layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kFullyConnected;
  return sums_channels ? layer.channels_in : operands(layer);
}

}  // namespace

std::optional<std::size_t> find_layer(const NeuralNetwork& network, const std::string& name) {
  const auto found = std::find_if(network.layers.begin(), network.layers.end(),
                                  [&](const NetworkLayer& layer) { return layer.name == name; });
  if (found == network.layers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - network.layers.begin());
}

bool is_input(const NetworkLayer& layer) { return layer.kind == LayerKind::kInput; }

bool has_weights(LayerKind kind) {
  return kind == LayerKind::kConvolution || kind == LayerKind::kFullyConnected ||
         kind == LayerKind::kDepthwise;
}

std::int64_t operands(const NetworkLayer& layer) {
  if (layer.kind != LayerKind::kElementwise && layer.kind != LayerKind::kLocal) return 1;
  return layer.gradient == Gradient::kNone ? layer.channels_in / layer.channels_out
                                           : layer.channels_out / layer.channels_in;
}

std::int64_t input_height(const NetworkLayer& layer) {
  if (layer.gradient != Gradient::kNone)
    return positions(layer.height, layer.window_height, layer.stride);
  return (layer.height - 1) * layer.stride + layer.window_height;
}

std::int64_t input_width(const NetworkLayer& layer) {
  if (layer.gradient != Gradient::kNone)
    return positions(layer.width, layer.window_width, layer.stride);
  return (layer.width - 1) * layer.stride + layer.window_width;
}

std::int64_t operations(const NetworkLayer& layer) {
  if (is_input(layer)) return 0;
  const bool is_forward = layer.gradient == Gradient::kNone;
  return product({is_forward ? layer.height : input_height(layer),
                  is_forward ? layer.width : input_width(layer), layer.channels_out,
                  summed_channels(layer), layer.window_width, layer.window_height});
}

std::int64_t weights(const NetworkLayer& layer) {
  if (!has_weights(layer.kind)) return 0;
  const std::int64_t channels = layer.kind == LayerKind::kDepthwise ? 1 : layer.channels_in;
  return product({channels, layer.channels_out, layer.window_width, layer.window_height});
}

NetworkTotals totals(const NeuralNetwork& network) {
  NetworkTotals sum;
  for (const NetworkLayer& layer : network.layers) {
    if (is_input(layer)) continue;
    ++sum.layers;
    sum.operations = checked_add(sum.operations, operations(layer));
    if (layer.gradient == Gradient::kNone) sum.weights = checked_add(sum.weights, weights(layer));
  }
  return sum;
}

}  // namespace sluice
