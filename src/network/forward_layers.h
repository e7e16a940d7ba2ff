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

/// Found by name: `L_back` and `L_back_w` are the gradients of L; where L reads `X_a` and `X_b`
/// side by side, `L_a_back` is that of its part of `X_a`. Nothing where no layer of that name has
/// these channels and this window.
std::optional<ForwardLayer> forward_layer(const NeuralNetwork& network,
                                          const NetworkLayer& gradient);

}  // namespace sluice
