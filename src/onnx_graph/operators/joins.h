#pragma once

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// Several tensors side by side along an axis. Where nobody has read a part yet, its maker writes
/// into the joined tensor, and nothing is moved; else the part is copied.
View join(NodeContext& context, std::vector<View> views, std::size_t axis, ElementType type);

}  // namespace sluice::onnx_graph
