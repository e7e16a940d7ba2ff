#pragma once

#include <map>
#include <string>
#include <vector>

namespace sluice {

/// What a value of a spec may be: one of several forms.
struct SchemaValue {
  /// The last one is the most specific.
  enum class Scalar { kNone, kText, kExpression, kNumber, kTruth };
  Scalar scalar = Scalar::kNone;
  std::vector<std::string> words;    ///< a closed set of texts
  std::vector<std::string> objects;  ///< maps with known keys: names in SpecSchema
  bool is_list = false;              ///< also a list, of what stands below the path `[]`
  bool is_map = false;               ///< also a map with keys of the user's own, path `{}`
  bool is_null = false;
};

struct SchemaKey {
  std::string name;
  bool is_required = true;
  /// By path: "" the value itself, `[]` an item of it, `[]{}` a value of such an item, …
  std::map<std::string, SchemaValue> values;
};

/// A map with known keys.
struct SchemaObject {
  std::string title;    ///< as messages call it: `a !Memory`
  std::string tag;      ///< `!Memory`; empty without one
  std::string section;  ///< of the file in which it stands
  std::vector<SchemaKey> keys;
};

/// The maps that spec files consist of, by name; the whole file is `kSpecFile`.
struct SpecSchema {
  std::map<std::string, SchemaObject> objects;
};
inline constexpr const char* kSpecFile = "a spec file";

}  // namespace sluice
