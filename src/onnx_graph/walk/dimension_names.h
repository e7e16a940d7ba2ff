#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// A dimension's name as one of a variable.
std::string as_variable(const std::string& symbol);
/// The names in a dimension like `past + seq`.
std::vector<std::string> terms_of(const std::string& symbol);
/// The size of such a dimension, where those of all its names are known.
std::optional<std::int64_t> composed_size(const std::string& symbol, const SizeLookup& known);

}  // namespace sluice::onnx_graph
