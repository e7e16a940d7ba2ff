#include "onnx_graph/model/schema_attributes.h"

#include "onnx_graph/model/onnx_messages.h"
// After the messages, whose macros they need.
#include <onnx/defs/schema.h>

#include <map>

namespace sluice::onnx_graph {
namespace {

using AttributeTable = std::map<std::string, std::set<std::string>>;

/// Of opsets that the library is too old for.
const AttributeTable& newer_attributes() {
  static const AttributeTable table = {
      {"AveragePool", {"dilations"}},
      {"Cast", {"round_mode", "saturate"}},
      {"CastLike", {"round_mode", "saturate"}},
      {"DequantizeLinear", {"block_size", "output_dtype"}},
      {"LpPool", {"ceil_mode", "dilations"}},
      {"QuantizeLinear", {"block_size", "output_dtype", "precision", "saturate"}},
      {"Resize", {"antialias", "axes", "keep_aspect_ratio_policy"}},
      {"Split", {"num_outputs"}},
  };
  return table;
}

AttributeTable all_attributes() {
  AttributeTable table;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!schema.domain().empty()) continue;
    for (const auto& entry : schema.attributes()) table[schema.Name()].insert(entry.first);
    if (schema.Name().starts_with("Reduce")) table[schema.Name()].insert("noop_with_empty_axes");
  }
  for (const auto& [type, names] : newer_attributes())
    table[type].insert(names.begin(), names.end());
  return table;
}

}  // namespace

const std::set<std::string>& schema_attributes(const std::string& type) {
  static const AttributeTable table = all_attributes();
  static const std::set<std::string> none;
  const auto found = table.find(type);
  return found == table.end() ? none : found->second;
}

}  // namespace sluice::onnx_graph
