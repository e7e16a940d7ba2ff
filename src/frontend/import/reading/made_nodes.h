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

/// Removes a key of a map, and gives its value; null where it has none.
inline YamlPointer take(YamlNode& map, const std::string& key) {
  for (auto entry = map.entries.begin(); entry != map.entries.end(); ++entry)
    if (entry->key->text == key) {
      YamlPointer value = entry->value;
      map.entries.erase(entry);
      return value;
    }
  return nullptr;
}

inline void set(YamlNode& map, const std::string& key, const YamlPointer& value) {
  take(map, key);
  map.entries.push_back({made_text(key, *value), value});
}

inline void set_if_absent(YamlNode& map, const std::string& key, const std::string& text) {
  if (map.find(key) == nullptr) set(map, key, made_text(text, map));
}

}  // namespace sluice
