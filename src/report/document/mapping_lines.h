#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mapping_from_json.h"

namespace sluice::cli {

/// Reads a stream of mappings, one JSON text each (see MappingFromJson). A stream says the same
/// nodes over and over: each text of a node without children is read once and remembered.
class MappingLines {
 public:
  MappingLines(const Workload& workload, const Arch& arch) : reader_(workload, arch) {}

  /// Throws std::runtime_error, or what nlohmann::json throws, with what is wrong.
  Mapping read(const std::string& line);

 private:
  bool split(const std::string& line);
  const Node& leaf(std::string_view text);

  MappingFromJson reader_;
  std::unordered_map<std::string, Node> known_;
  // Of the line that is being read:
  std::string skeleton_;                  ///< the numbers of its leaves in their places
  std::vector<std::string_view> leaves_;  ///< objects without objects inside
  std::string key_;
};

}  // namespace sluice::cli
