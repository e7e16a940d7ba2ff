#pragma once

#include <string>

#include "onnx_graph/model/graph.h"
#include "sluice/support/diagnostic.h"

namespace sluice::onnx_graph {

/// At most so many numbers of one tensor are kept, and of all tensors of a file.
inline constexpr std::int64_t kMostNumbersOfATensor = 1 << 22;
inline constexpr std::int64_t kMostNumbers = 1 << 22;

/// The model in a file, as plain values. Numbers in files beside it (external data) are read where
/// those are there.
Result<Model> read_model(const std::string& path);

}  // namespace sluice::onnx_graph
