#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/yaml/source_files.h"

namespace sluice {

struct YamlNode;
using YamlPointer = std::shared_ptr<const YamlNode>;

struct YamlEntry {
  YamlPointer key;  ///< always a scalar
  YamlPointer value;
};

/// One node of a document. Aliases share the node they stand for.
struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };
  Kind kind = Kind::kNull;
  std::string tag;                 ///< with its exclamation mark; empty where none was written
  bool quoted = false;             ///< scalars
  std::string text;                ///< scalars
  std::vector<YamlPointer> items;  ///< sequences
  std::vector<YamlEntry> entries;  ///< maps, in document order, keys unique
  SourcePosition position;
  std::size_t n_nodes = 1;  ///< with everything below, aliases expanded
  int height = 1;

  bool is_map() const { return kind == Kind::kMap; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_null() const { return kind == Kind::kNull; }
  /// The value of a key of a map, or null.
  const YamlNode* find(const std::string& key) const;
};

/// Sets n_nodes and height from the children.
void update_extent(YamlNode& node);

/// What the node is, for messages: `a list`, `'text'`, `nothing`.
std::string describe(const YamlNode& node);

}  // namespace sluice
