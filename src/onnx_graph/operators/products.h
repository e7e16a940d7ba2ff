#pragma once

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// NumPy's matmul: [… M, K] × [… K, N], dimensions in front broadcast. Vectors are matrices of one
/// row or column.
View multiply_matrices(NodeContext& context, View a, View b, const std::string& name,
                       ElementType type, double scale = 1);

}  // namespace sluice::onnx_graph
