#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {

const OperatorTable& all_operators() {
  static const OperatorTable table = [] {
    OperatorTable all;
    add_elementwise(all);
    add_activations(all);
    add_comparisons(all);
    add_convolutions(all);
    add_pools(all);
    add_products(all);
    add_reductions(all);
    add_softmax(all);
    add_norms(all);
    add_layouts(all);
    add_joins(all);
    add_gathers(all);
    add_quantised(all);
    add_resizes(all);
    add_attention(all);
    add_microsoft_attention(all);
    add_microsoft_products(all);
    add_quantised_parts(all);
    add_quant(all);
    add_recurrent(all);
    add_tensor_lists(all);
    add_open_sizes(all);
    add_experts(all);
    return all;
  }();
  return table;
}

}  // namespace sluice::onnx_graph
