#pragma once

#include "onnx_graph/lower/lowering.h"
#include "onnx_graph/model/graph.h"
#include "sluice/support/diagnostic.h"

namespace sluice::onnx_graph {

/// The sizes of a graph's symbolic dimensions, and the names that they can be set by.
struct SymbolicSizes {
  std::map<std::string, std::string> given;  ///< as written
  std::map<std::string, std::int64_t> used;
};

/// All nodes of a model as Einsums, in `lowering`. All mistakes together: what follows from a node
/// that cannot be read is left out.
Result<bool> walk_graph(const Model& model, const std::vector<Node>& nodes, const std::string& file,
                        SymbolicSizes& sizes, Lowering& lowering);

}  // namespace sluice::onnx_graph
