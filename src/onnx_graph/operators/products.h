#pragma once

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// NumPy's matmul: [… M, K] × [… K, N], dimensions in front broadcast. Vectors are matrices of one
/// row or column.
View multiply_matrices(NodeContext& context, View a, View b, const std::string& name,
                       ElementType type, double scale = 1);

/// A sum of products of views whose dimensions have letters; those that `output` lacks are summed.
View contract(NodeContext& context, std::vector<View> views,
              const std::vector<std::string>& letters_of_view, const std::string& output,
              const std::string& name, ElementType type, double scale);

}  // namespace sluice::onnx_graph
