#pragma once

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {

/// Conv, MatMul and Gemm of two dequantised operands: products of their integers with sums of 32
/// bits, each sum scaled once. False, and nothing is written, where they are none.
bool multiplied_as_integers(NodeContext& context);

/// An operator that only moves values, or takes the largest: of dequantised values it is done with
/// the integers. False where it is none.
bool moved_as_integers(NodeContext& context, Operator rule);

}  // namespace sluice::onnx_graph
