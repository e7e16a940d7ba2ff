#pragma once

#include <optional>
#include <vector>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// What a node makes of constants alone, with its numbers where they are known, exact and not too
/// many. Nothing where it only looks at them in another way, which is free, or where its rule says
/// no shapes.
std::optional<std::vector<Constant>> worked_out(const Node& node, const Lowering& lowering);

/// Whether the values of constants stand in what the node makes, in other places or none.
bool only_moves(const Node& node);

}  // namespace sluice::onnx_graph
