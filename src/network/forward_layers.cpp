#include "network/forward_layers.h"

#include <string>

namespace sluice {
namespace {

std::string name_without_gradient(const std::string& name) {
  for (const std::string ending : {"_back_w", "_back"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

bool has_gradient(const NetworkLayer& layer, std::int64_t channels_in,
                  const NetworkLayer& gradient) {
  return layer.kind == gradient.kind && layer.gradient == Gradient::kNone &&
         layer.channels_out == gradient.channels_in && channels_in == gradient.channels_out &&
         layer.window_height == gradient.window_height &&
         layer.window_width == gradient.window_width && layer.stride == gradient.stride;
}

}  // namespace

std::optional<ForwardLayer> forward_layer(const NeuralNetwork& network,
                                          const NetworkLayer& gradient) {
  const std::string name = name_without_gradient(gradient.name);
  if (const auto layer = find_layer(network, name)) {
    const NetworkLayer& forward = network.layers[*layer];
    if (has_gradient(forward, forward.channels_in, gradient)) return ForwardLayer{*layer, {}};
    return std::nullopt;
  }
  const std::size_t cut = name.rfind('_');
  const auto layer =
      cut == std::string::npos ? std::nullopt : find_layer(network, name.substr(0, cut));
  if (!layer) return std::nullopt;
  const NetworkLayer& forward = network.layers[*layer];
  for (const std::size_t operand : forward.previous)
    if (forward.previous.size() > 1 && network.layers[operand].name.ends_with(name.substr(cut)) &&
        has_gradient(forward, network.layers[operand].channels_out, gradient))
      return ForwardLayer{*layer, operand};
  return std::nullopt;
}

}  // namespace sluice
