#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// All documents of one load, merged.
struct MergedSpecs {
  YamlPointer root;  ///< a map of the sections; `mapping`, `mappings` and `plan` are not among them
  struct MappingSection {
    YamlPointer mapping;
    YamlPointer plan;  ///< may be null
  };
  std::vector<MappingSection> mappings;  ///< of the last file that has any
  /// Numbers of the files that name the sections: the last ones of those loaded that have them, be
  /// it by an include.
  std::map<std::string, std::size_t> named_by;
};

/// Reads files (by path or library name), follows `include:`, and merges.
class SpecFiles {
 public:
  explicit SpecFiles(ReadContext& context) : context_(context) {}

  void add_file(const std::string& path);
  void add_text(const std::string& name, const std::string& text);
  MergedSpecs take() { return std::move(merged_); }
  /// The first document of a file that `include: FILE` names inside a list; null if there is none.
  YamlPointer included(const YamlNode& file_name);

 private:
  std::vector<YamlPointer> documents(const std::string& name, std::string text);
  void add_onnx(const std::string& path);
  void add_documents(const std::vector<YamlPointer>& documents);
  YamlPointer with_includes(const YamlPointer& document);
  void warn_of_hidden(const std::string& what, const YamlNode& earlier, const YamlNode& later);

  ReadContext& context_;
  MergedSpecs merged_;
  std::vector<std::string> open_includes_;
  int n_includes_ = 0;
};

}  // namespace sluice
