#include "frontend/yaml/yaml_node.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kManyNodes = std::size_t{1} << 62U;

std::size_t saturating_add(std::size_t a, std::size_t b) { return std::min(a + b, kManyNodes); }

}  // namespace

const YamlNode* YamlNode::find(const std::string& key) const {
  for (const YamlEntry& entry : entries)
    if (entry.key->text == key) return entry.value.get();
  return nullptr;
}

void update_extent(YamlNode& node) {
  node.n_nodes = 1;
  node.height = 1;
  const auto include = [&](const YamlNode& child) {
    node.n_nodes = saturating_add(node.n_nodes, child.n_nodes);
    node.height = std::max(node.height, child.height + 1);
  };
  for (const YamlPointer& item : node.items) include(*item);
  for (const YamlEntry& entry : node.entries) {
    include(*entry.key);
    include(*entry.value);
  }
}

std::string describe(const YamlNode& node) {
  constexpr std::size_t kLongest = 60;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      return node.tag.empty() ? "a map" : "a " + node.tag + " map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return "'" + (node.text.size() > kLongest ? node.text.substr(0, kLongest) + "..." : node.text) +
         "'";
}

}  // namespace sluice
