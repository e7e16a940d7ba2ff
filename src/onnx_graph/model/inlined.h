#pragma once

#include "onnx_graph/model/graph.h"
#include "sluice/support/diagnostic.h"

namespace sluice::onnx_graph {

/// The nodes of a model's graph in an order in which each comes after those that it reads, calls of
/// the model's own functions replaced by their nodes. Mistakes: a cycle, functions that call
/// themselves, too many nodes, names that two nodes make.
Result<std::vector<Node>> inlined_nodes(const Model& model, const std::string& file);

}  // namespace sluice::onnx_graph
