#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a layer of a neural network computes.
enum class LayerKind {
  kInput,           ///< a tensor from outside: the image, or a state of before
  kConvolution,     ///< `W[k,c,r,s]`
  kFullyConnected,  ///< a convolution whose window is the whole input plane
  kDepthwise,       ///< one window a channel
  kPool,            ///< a window without weights
  kElementwise,     ///< joins the values of several operands
  kLocal            ///< as elementwise, over neighbouring channels
};

/// Whether a layer computes forwards, or the gradient of a forward layer.
enum class Gradient { kNone, kOfInput, kOfWeights };

/// A layer of a network and the plane of its output. Padding is part of the input plane.
struct NetworkLayer {
  std::string name;
  LayerKind kind = LayerKind::kInput;
  Gradient gradient = Gradient::kNone;
  std::int64_t channels_in = 0;   ///< C, of all operands together; 0 for inputs
  std::int64_t channels_out = 1;  ///< K
  std::int64_t height = 1;        ///< of the output plane
  std::int64_t width = 1;
  std::int64_t window_width = 1;   ///< R
  std::int64_t window_height = 1;  ///< S
  std::int64_t stride = 1;
  /// Layers whose outputs it reads; several are concatenated along the channels.
  std::vector<std::size_t> previous;
  int line = 0;  ///< of its table
};

/// A directed graph of layers; each reads earlier ones only.
struct NeuralNetwork {
  std::string name;
  std::vector<NetworkLayer> layers;
};

/// The layer of that name.
std::optional<std::size_t> find_layer(const NeuralNetwork& network, const std::string& name);

/// Where its values come from outside.
bool is_input(const NetworkLayer& layer);

bool has_weights(LayerKind kind);

/// Operands that an elementwise or local layer joins; 1 for all others.
std::int64_t operands(const NetworkLayer& layer);

/// Rows (columns) of the plane that a layer reads. For gradients this is the plane of the forward
/// layer's output, without padding: ⌊(height − S)/stride⌋ + 1.
std::int64_t input_height(const NetworkLayer& layer);
std::int64_t input_width(const NetworkLayer& layer);

/// Operations for one sample: multiply-adds of layers with weights, else one operation for each
/// value of a window or operand.
std::int64_t operations(const NetworkLayer& layer);

/// Values of its weights; those that a gradient of weights makes are counted, too.
std::int64_t weights(const NetworkLayer& layer);

/// What a network is made of.
struct NetworkTotals {
  std::int64_t layers = 0;      ///< without inputs
  std::int64_t operations = 0;  ///< for one sample
  std::int64_t weights = 0;     ///< of forward layers
};
NetworkTotals totals(const NeuralNetwork& network);

}  // namespace sluice
