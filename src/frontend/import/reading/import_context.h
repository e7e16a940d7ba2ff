#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Sections of the files of one job, by key; what stands in two files counts in the last one.
using Sections = std::map<std::string, YamlPointer>;

/// What the readers of one import share: mistakes (in the ReadContext) and notes.
struct ImportContext {
  ReadContext& read;
  Diagnostics notes;
  std::vector<YamlPointer> made = {};  ///< nodes that stand in no file, which others point to
  bool has_templates = false;          ///< whether a file was rendered
  std::set<std::string> template_variables = {};  ///< that templates ask for

  /// Says at its place what the import leaves out or changes.
  void note(const YamlNode& node, const std::string& message, const std::string& hint = {});
  /// The same; with a hint at what may have been meant it is a warning.
  void note_or_warn(const YamlNode& node, const std::string& message, const std::string& hint);
  /// A note about the whole import.
  void note(const std::string& message, const std::string& hint = {});

 private:
  void add(Severity severity, const YamlNode& node, const std::string& message,
           const std::string& hint);
};

/// `word-bits` as `word_bits`: both spellings are in use.
std::string with_underscores(std::string key);

/// The key in either spelling, or null.
const YamlNode* find_key(const YamlNode& map, const std::string& key);

/// The same; where it is null, an error about `what`.
const YamlNode* required_key(ImportContext& context, const YamlNode& map, const char* key,
                             const char* what);

/// A name that Sluice accepts, as near to `name` as can be.
std::string sluice_name(const std::string& name);

/// Notes every key of a map that is not among `known` (in either spelling).
void note_other_keys(ImportContext& context, const YamlNode& map, const std::string& what,
                     const std::set<std::string>& known);

/// True, and said, where one of these keys is absent and another one is nearly it.
bool has_misspelt_key(ImportContext& context, const YamlNode& map, const std::string& what,
                      const std::vector<std::string>& keys);

/// Attributes of a component, its own over those it inherits. Whoever asks for one uses it; the
/// rest is noted.
class Attributes {
 public:
  /// Adds the entries of a map (null: nothing); they win over those that are there.
  void add(const YamlNode* map);

  /// The first of `keys` (spelt with underscores) that is there, else null.
  const YamlNode* find(const std::vector<std::string>& keys);
  std::optional<double> number(ImportContext& context, const std::vector<std::string>& keys,
                               bool zero = true);
  std::optional<std::int64_t> integer(ImportContext& context, const std::vector<std::string>& keys,
                                      std::int64_t minimum = 1);

  /// Keys that mean something here, whether or not they are used.
  void expect(const std::vector<std::string>& keys) { expected_.insert(keys.begin(), keys.end()); }
  /// Those that nobody asked for, with what they say.
  std::vector<std::pair<std::string, const YamlNode*>> unused() const;
  /// What a key that nobody asked for may be meant for: one that was asked for and is absent; else
  /// empty.
  std::string likely(const std::string& key) const;

 private:
  YamlPointer with_attributes(ImportContext& context, const YamlNode& node, int depth) const;
  void note_others(ImportContext& context, const std::vector<std::string>& keys,
                   const YamlNode& counting) const;

  std::map<std::string, const YamlNode*> values_;
  std::set<std::string> used_, expected_;
};

}  // namespace sluice
