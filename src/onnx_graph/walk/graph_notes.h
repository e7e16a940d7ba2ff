#pragma once

#include <string>
#include <vector>

#include "onnx_graph/lower/lowering.h"
#include "sluice/support/diagnostic.h"

namespace sluice::onnx_graph {

/// Notes about a graph as a whole, not about an operator.

/// Shapes in the file, of intermediates and outputs, that are others than what the operators make.
void note_contradictions(const Model& model, const std::string& file, const SizeLookup& symbol,
                         Lowering& lowering);
/// Nodes that are left out, as nothing that the graph puts out needs them.
void note_dead_nodes(const std::vector<Node>& nodes, const std::vector<bool>& is_live,
                     const std::string& file, Lowering& lowering);
/// Attributes that ONNX's operators do not have.
void note_unknown_attributes(const std::vector<Node>& nodes, const std::vector<bool>& is_live,
                             const std::string& file, Lowering& lowering);
/// An opset that is older or newer than those that docs/onnx.md says.
void note_opset(const Model& model, const std::string& file, Lowering& lowering);

}  // namespace sluice::onnx_graph
