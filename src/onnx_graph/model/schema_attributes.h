#pragma once

#include <set>
#include <string>

namespace sluice::onnx_graph {

/// Attributes that an operator of ONNX has in some opset; none where it is not one that has a name
/// here, or has no attributes.
const std::set<std::string>& schema_attributes(const std::string& type);

}  // namespace sluice::onnx_graph
