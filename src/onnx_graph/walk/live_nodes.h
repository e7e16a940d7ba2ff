#pragma once

#include <vector>

#include "onnx_graph/model/graph.h"

namespace sluice::onnx_graph {

/// For each node, whether anything that the graph puts out follows from what it makes. All of them
/// where the graph puts out nothing.
std::vector<bool> live_nodes(const Graph& graph, const std::vector<Node>& nodes);

}  // namespace sluice::onnx_graph
