#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx_graph/model/graph.h"

namespace sluice::onnx_graph {

/// At most so many numbers of a constant are worked out before the run.
inline constexpr std::int64_t kMostFoldedNumbers = 1 << 16;

/// An input of a node: its shape, and its numbers if they are known.
struct Known {
  Shape shape;
  ElementType type = ElementType::kFloat;
  const Constant* constant = nullptr;  ///< null: not a constant, or left out
  bool is_there = true;
};

/// The outputs of a node that follow from constants and shapes alone: what exporters write to work
/// out shapes. Nothing where the node, or a number that it needs, is not known. Never wrong: an
/// attribute or index that does not fit leaves the node to its operator, which says so.
std::optional<std::vector<Constant>> fold(const Node& node, const std::vector<Known>& inputs,
                                          std::int64_t opset);

}  // namespace sluice::onnx_graph
