#include "frontend/yaml/schema_recorder.h"

#include <algorithm>

namespace sluice {

/// Maps with a tag are the same wherever they stand in a section; others below one key are.
void SchemaRecorder::map(const YamlNode& node, const std::string& what) {
  if (objects_.contains(&node) && schema_.objects[objects_[&node]].title == what) return;
  const auto place = places_.find(&node);
  std::string name = what, section;
  if (place != places_.end()) {
    const auto& [object, key, path] = place->second;
    section = object == kSpecFile ? key : schema_.objects[object].section;
    name = section + (node.tag.empty() ? " / " + key + path : "") + " / " + what;
  }
  SchemaObject& object = schema_.objects[name];
  object.section = section;
  object.title = what;
  object.tag = node.tag;
  objects_[&node] = name;
  if (SchemaValue* value = value_at(node))
    if (std::find(value->objects.begin(), value->objects.end(), name) == value->objects.end())
      value->objects.push_back(name);
}

void SchemaRecorder::key(const YamlNode& map, const std::string& key, const YamlNode* value,
                         bool is_required) {
  const auto object = objects_.find(&map);
  if (object == objects_.end()) return;
  std::vector<SchemaKey>& keys = schema_.objects[object->second].keys;
  auto known =
      std::find_if(keys.begin(), keys.end(), [&](const SchemaKey& k) { return k.name == key; });
  if (known == keys.end()) known = keys.insert(known, {key, true, {}});
  known->is_required &= is_required;
  if (value != nullptr) link(*value, {object->second, key, ""});
}

void SchemaRecorder::link(const YamlNode& node, const Place& place) {
  places_[&node] = place;
  objects_.erase(&node);
  SchemaValue& value = *value_at(node);
  value.is_null |= node.is_null();
  if (node.is_scalar()) value.scalar = std::max(value.scalar, SchemaValue::Scalar::kText);
  value.is_list |= node.is_sequence();
  value.is_map |= node.is_map();
  for (const YamlPointer& item : node.items)
    link(*item, {place.object, place.key, place.path + "[]"});
  for (const YamlEntry& entry : node.entries)
    link(*entry.value, {place.object, place.key, place.path + "{}"});
}

SchemaValue* SchemaRecorder::value_at(const YamlNode& node) {
  const auto place = places_.find(&node);
  if (place == places_.end()) return nullptr;
  for (SchemaKey& key : schema_.objects[place->second.object].keys)
    if (key.name == place->second.key) return &key.values[place->second.path];
  return nullptr;
}

/// A key that the examples have in one kind of node is read alike in others of the section.
SpecSchema SchemaRecorder::take() {
  const auto is_alike = [](const SchemaObject& a, const SchemaObject& b) {
    return !a.tag.empty() && !b.tag.empty() && a.section == b.section;
  };
  for (auto& [name, object] : schema_.objects)
    for (SchemaKey& key : object.keys)
      for (const auto& [other_name, other] : schema_.objects)
        for (const SchemaKey& known : other.keys)
          if (key.values.empty() && known.name == key.name && is_alike(object, other))
            key.values = known.values;
  return std::move(schema_);
}

void SchemaRecorder::forget_nodes() {
  places_.clear();
  objects_.clear();
}

void SchemaRecorder::value(const YamlNode* node, SchemaValue::Scalar scalar) {
  if (node == nullptr || !node->is_scalar()) return;
  if (SchemaValue* value = value_at(*node)) value->scalar = std::max(value->scalar, scalar);
}

void SchemaRecorder::choice(const YamlNode* node, const std::vector<std::string>& words) {
  if (node == nullptr || !node->is_scalar()) return;
  SchemaValue* value = value_at(*node);
  if (value == nullptr) return;
  for (const std::string& word : words)
    if (std::find(value->words.begin(), value->words.end(), word) == value->words.end())
      value->words.push_back(word);
}

}  // namespace sluice
