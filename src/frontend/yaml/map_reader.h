#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Reads a map by its keys. What is never asked for is an unknown key: finish() reports it.
class MapReader {
 public:
  /// `what` names the map in messages: "a !Memory". Anything but a map is reported.
  MapReader(ReadContext& context, const YamlNode& node, std::string what);

  bool is_map() const { return node_.is_map(); }
  /// The value of a key, or null where it is absent.
  const YamlNode* optional(const std::string& key);
  /// As optional; absence is reported, or is left to finish() where a key is nearly the same.
  const YamlNode* required(const std::string& key);
  /// Says where keys belong that people write here.
  void belongs_into(const std::string& section, const std::vector<std::string>& keys);
  /// Reports the keys that nobody asked for. Whoever asks for required keys calls it.
  void finish();

  /// Whether a key that nobody asks for looks like this one. Asked after all keys were.
  bool is_misspelt(const std::string& key) const;

  const YamlNode& node() const { return node_; }
  ReadContext& context() { return context_; }

 private:
  const YamlNode* value_of(const std::string& key, bool is_required);
  bool is_known(const YamlEntry& entry) const;
  void report_missing(const std::string& key);

  ReadContext& context_;
  const YamlNode& node_;
  std::string what_;
  std::vector<std::string> known_;
  std::vector<std::string> misspelt_;  // required ones that are absent, where another key is near
  std::map<std::string, std::string> section_of_;  // of keys that belong elsewhere
};

}  // namespace sluice
