#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {

void add_attention(OperatorTable&) {}

}  // namespace sluice::onnx_graph
