#pragma once

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// Several tensors side by side along an axis. Where nobody has read a part yet, its maker writes
/// into the joined tensor, and nothing is moved; else the part is copied.
View join(NodeContext& context, std::vector<View> views, std::size_t axis, ElementType type);

/// Places at equal distances of a dimension, each `times` times.
struct Run {
  std::int64_t start = 0, step = 1, count = 1, times = 1;
};

inline constexpr std::size_t kMostRuns = 64;  ///< copies that known places may take

/// Known places as runs, from the front as long as they go.
std::vector<Run> runs_of(const std::vector<std::int64_t>& places);
/// The values of a dimension at these places: each run is a view; several are put together, a copy
/// each.
View gathered(NodeContext& context, View data, std::size_t axis, const std::vector<Run>& runs,
              ElementType type);

}  // namespace sluice::onnx_graph
