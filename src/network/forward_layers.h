#pragma once

#include <optional>

#include "sluice/network/network.h"

namespace sluice {

/// The layer whose gradient a layer is.
struct ForwardLayer {
  std::size_t layer = 0;
  /// Where it reads several layers side by side and the gradient is that of one of them alone.
  std::optional<std::size_t> operand;
};

/// Found by name: `L_back` and `L_back_w` are the gradients of L (as are `X_back_a`, `X_backa` and
/// `X_back_w_a` of `X_a`); where L reads `X_a` and `X_b` side by side, `L_a_back` is that of its
/// part of `X_a`, and `L_back_…` that of the last part with as many channels. Nothing where no
/// layer of that name has these channels and this window.
std::optional<ForwardLayer> forward_layer(const NeuralNetwork& network,
                                          const NetworkLayer& gradient);

/// The gradient of the input beside a gradient of weights: of the same layer, from the same values.
std::optional<std::size_t> gradient_of_same_input(const NeuralNetwork& network,
                                                  std::size_t of_weights);

}  // namespace sluice
