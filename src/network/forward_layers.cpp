#include "network/forward_layers.h"

#include <algorithm>
#include <string>
#include <vector>

namespace sluice {
namespace {

/// The names of the layer whose gradient may be called so: `_back` or `_back_w` is left out.
std::vector<std::string> names_without_gradient(const std::string& name) {
  std::vector<std::string> names;
  for (const std::string mark : {"_back_w_", "_back_w", "_back_", "_back"}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string::npos) continue;
    const std::string rest = name.substr(at + mark.size());
    names.push_back(name.substr(0, at) + (rest.empty() ? "" : "_" + rest));
  }
  return names;
}

bool has_gradient(const NetworkLayer& layer, std::int64_t channels_in,
                  const NetworkLayer& gradient) {
  return layer.kind == gradient.kind && layer.gradient == Gradient::kNone &&
         layer.channels_out == gradient.channels_in && channels_in == gradient.channels_out &&
         layer.window_height == gradient.window_height &&
         layer.window_width == gradient.window_width && layer.stride == gradient.stride;
}

/// That of the last operand of layer `name` whose name ends so and which has as many channels.
std::optional<ForwardLayer> gradient_of_part(const NeuralNetwork& network,
                                             const NetworkLayer& gradient, const std::string& name,
                                             const std::string& ending) {
  const auto layer = find_layer(network, name);
  if (!layer || network.layers[*layer].previous.size() < 2) return std::nullopt;
  const NetworkLayer& forward = network.layers[*layer];
  const auto is_meant = [&](std::size_t operand) {
    return network.layers[operand].name.ends_with(ending) &&
           has_gradient(forward, network.layers[operand].channels_out, gradient);
  };
  const auto found = std::find_if(forward.previous.rbegin(), forward.previous.rend(), is_meant);
  if (found == forward.previous.rend()) return std::nullopt;
  return ForwardLayer{*layer, *found};
}

}  // namespace

std::optional<ForwardLayer> forward_layer(const NeuralNetwork& network,
                                          const NetworkLayer& gradient) {
  for (const std::string& name : names_without_gradient(gradient.name)) {
    if (const auto layer = find_layer(network, name)) {
      const NetworkLayer& forward = network.layers[*layer];
      if (has_gradient(forward, forward.channels_in, gradient)) return ForwardLayer{*layer, {}};
    }
    const std::size_t cut = name.rfind('_');
    if (cut == std::string::npos) continue;
    const auto part = gradient_of_part(network, gradient, name.substr(0, cut), name.substr(cut));
    if (part) return part;
  }
  const std::size_t cut = gradient.name.rfind("_back_");
  if (cut == std::string::npos) return std::nullopt;
  return gradient_of_part(network, gradient, gradient.name.substr(0, cut), "");
}

std::optional<std::size_t> gradient_of_same_input(const NeuralNetwork& network,
                                                  std::size_t of_weights) {
  const NetworkLayer& gradient = network.layers[of_weights];
  const auto is_same = [&](const NetworkLayer& other) {
    return other.gradient == Gradient::kOfInput && other.kind == gradient.kind &&
           other.previous == gradient.previous && other.channels_in == gradient.channels_in &&
           other.channels_out == gradient.channels_out;
  };
  const auto found = std::find_if(network.layers.begin(), network.layers.end(), is_same);
  if (found == network.layers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - network.layers.begin());
}

}  // namespace sluice
