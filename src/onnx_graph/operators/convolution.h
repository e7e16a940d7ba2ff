#pragma once

#include <optional>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// The sums of products of a convolution, without its bias.
View convolve(NodeContext& context, View input, View weight, const std::string& name,
              ElementType type);

/// value + bias[channel]
View add_to_channels(NodeContext& context, const View& value, View bias, const std::string& name,
                     ElementType type);

}  // namespace sluice::onnx_graph
