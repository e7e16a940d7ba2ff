#pragma once

#include <map>
#include <string>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// Writes one node as Einsums, or as a view of its inputs.
using Operator = void (*)(NodeContext&);
using OperatorTable = std::map<std::string, Operator>;

/// One family a file; `all_operators` has them all. Operators of other domains that ONNX does not
/// have stand there by their names alone.
void add_elementwise(OperatorTable& table);
void add_activations(OperatorTable& table);
void add_comparisons(OperatorTable& table);
void add_convolutions(OperatorTable& table);
void add_pools(OperatorTable& table);
void add_products(OperatorTable& table);
void add_reductions(OperatorTable& table);
void add_softmax(OperatorTable& table);
void add_norms(OperatorTable& table);
void add_layouts(OperatorTable& table);
void add_joins(OperatorTable& table);
void add_gathers(OperatorTable& table);
void add_quantised(OperatorTable& table);
void add_resizes(OperatorTable& table);
void add_attention(OperatorTable& table);
void add_microsoft_attention(OperatorTable& table);
void add_microsoft_products(OperatorTable& table);
void add_quantised_parts(OperatorTable& table);
void add_quant(OperatorTable& table);
/// Attention of com.microsoft: weights of queries, keys and values in one matrix.
void packed_attention(NodeContext& context);
void add_recurrent(OperatorTable& table);
void add_tensor_lists(OperatorTable& table);
void add_open_sizes(OperatorTable& table);
void add_experts(OperatorTable& table);

const OperatorTable& all_operators();

/// What has no rule of its own: every value that it reads and makes costs an operation of the
/// vector unit. `shapes`: of the outputs; `types` of theirs, that of the first input where there
/// are none.
void price_per_element(NodeContext& context, const std::vector<Shape>& shapes,
                       const std::vector<ElementType>& types = {});

}  // namespace sluice::onnx_graph
