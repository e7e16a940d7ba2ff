#pragma once

#include <memory>
#include <string>

#include "frontend/yaml/yaml_node.h"

namespace sluice {

// Nodes that stand in no file, for what is said otherwise at `place`, where messages then point.

inline std::shared_ptr<YamlNode> made_node(YamlNode::Kind kind, const YamlNode& place) {
  auto node = std::make_shared<YamlNode>();
  node->kind = kind;
  node->position = place.position;
  return node;
}

inline std::shared_ptr<YamlNode> made_text(const std::string& text, const YamlNode& place) {
  auto node = made_node(YamlNode::Kind::kScalar, place);
  node->text = text;
  return node;
}

}  // namespace sluice
