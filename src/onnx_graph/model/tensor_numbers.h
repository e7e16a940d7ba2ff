#pragma once

#include <cstdint>

#include "onnx_graph/model/graph.h"

namespace onnx {
class TensorProto;
}

namespace sluice::onnx_graph {

/// Puts a tensor's `count` numbers into `constant`, if they are there and their type has a width in
/// whole bytes.
void read_numbers(const onnx::TensorProto& tensor, std::int64_t count, Constant& constant);

}  // namespace sluice::onnx_graph
