#include "frontend/names/tensor_set_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "frontend/yaml/values.h"

namespace sluice {

std::vector<YamlPointer> tensor_set_parts(const YamlNode& node) {
  const auto is_member = [](const YamlEntry& entry) { return entry.value->is_null(); };
  std::vector<YamlPointer> parts;
  if (node.is_scalar()) parts.push_back(std::make_shared<YamlNode>(node));
  if (node.is_sequence()) parts = node.items;
  if (node.is_map() && std::all_of(node.entries.begin(), node.entries.end(), is_member))
    for (const YamlEntry& entry : node.entries) parts.push_back(entry.key);
  return parts;
}

std::optional<Expression> read_tensor_set(ReadContext& context, const YamlNode* node,
                                          const char* what) {
  if (node == nullptr) return std::nullopt;
  if (node->is_scalar()) return read_expression(context, node, what);
  const std::vector<YamlPointer> parts = tensor_set_parts(*node);
  if (parts.empty()) {
    context.error(*node, fmt::format("{} must be a set of tensors, not {}", what, describe(*node)),
                  "as in 'A | B', '{A, B}', 'All', '~Intermediates' or 'Nothing'");
    return std::nullopt;
  }
  std::string text;
  for (const YamlPointer& part : parts) {
    if (!read_expression(context, part.get(), what)) return std::nullopt;
    text += fmt::format("{}({})", text.empty() ? "" : " | ", part->text);
  }
  YamlNode whole;
  whole.kind = YamlNode::Kind::kScalar;
  whole.text = text;
  whole.position = node->position;
  return read_expression(context, &whole, what);
}

}  // namespace sluice
