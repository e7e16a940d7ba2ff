#pragma once

#include <set>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// exp(x − max) / Σ exp(x − max) over some dimensions: maximum, exponential, sum, quotient. `scale`
/// is applied inside the exponential.
View softmax(NodeContext& context, const View& input, const std::set<std::size_t>& dimensions,
             const std::string& name, ElementType type, double scale = 1);

}  // namespace sluice::onnx_graph
