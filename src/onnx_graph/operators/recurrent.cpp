#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {

void add_recurrent(OperatorTable&) {}

}  // namespace sluice::onnx_graph
