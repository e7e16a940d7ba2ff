#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/yaml/yaml_node.h"
#include "sluice/frontend/spec_schema.h"

namespace sluice {

/// Watches the readers of a spec that uses everything there is, and so learns which maps they know:
/// their keys, and what the values are read as. MapReader and the readers of values call it.
class SchemaRecorder {
 public:
  /// A reader takes `node` for the map that messages call `what`.
  void map(const YamlNode& node, const std::string& what);
  /// It asks the map for a key. `value`: null where that is absent.
  void key(const YamlNode& map, const std::string& key, const YamlNode* value, bool is_required);
  /// A value is read. Of several readers that look at one value the most specific counts.
  void value(const YamlNode* node, SchemaValue::Scalar scalar);
  void choice(const YamlNode* node, const std::vector<std::string>& words);

  /// Nodes that were seen are gone.
  void forget_nodes();
  SpecSchema take();

 private:
  /// Where a node stands: below a key of an object, that many lists and maps deep.
  struct Place {
    std::string object, key, path;
  };
  void link(const YamlNode& node, const Place& place);
  SchemaValue* value_at(const YamlNode& node);

  SpecSchema schema_;
  std::unordered_map<const YamlNode*, Place> places_;
  std::unordered_map<const YamlNode*, std::string> objects_;  ///< by the node of a map
};

}  // namespace sluice
