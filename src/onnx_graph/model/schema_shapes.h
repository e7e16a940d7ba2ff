#pragma once

#include <optional>
#include <vector>

#include "onnx_graph/model/graph.h"

namespace sluice::onnx_graph {

struct TensorShape {
  ElementType type = ElementType::kFloat;
  Shape shape;
};

/// Types and shapes of a node's outputs by the ONNX library's own inference, for operators that
/// have no rule here. Of an opset that the library is too old for, the newest that it knows.
/// Nothing where it does not say all of them.
std::optional<std::vector<TensorShape>> shapes_by_schema(
    const Node& node, const std::vector<TensorShape>& inputs,
    const std::vector<const Constant*>& constants, std::int64_t opset);

}  // namespace sluice::onnx_graph
