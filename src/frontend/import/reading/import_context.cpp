#include "frontend/import/reading/import_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "frontend/yaml/values.h"

namespace sluice {

void ImportContext::note(const YamlNode& node, const std::string& message,
                         const std::string& hint) {
  add(Severity::kNote, node, message, hint);
}

void ImportContext::note_or_warn(const YamlNode& node, const std::string& message,
                                 const std::string& hint) {
  add(hint.empty() ? Severity::kNote : Severity::kWarning, node, message, hint);
}

void ImportContext::add(Severity severity, const YamlNode& node, const std::string& message,
                        const std::string& hint) {
  const NodePlace place = read.place_of(node);
  Diagnostic note{severity, place.location, message, place.source_line, hint};
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

void ImportContext::note(const std::string& message, const std::string& hint) {
  notes.push_back({Severity::kNote, {}, message, {}, hint});
}

std::string with_underscores(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

const YamlNode* find_key(const YamlNode& map, const std::string& key) {
  for (const YamlEntry& entry : map.entries)
    if (with_underscores(entry.key->text) == key) return entry.value.get();
  return nullptr;
}

const YamlNode* required_key(ImportContext& context, const YamlNode& map, const char* key,
                             const char* what) {
  const YamlNode* value = find_key(map, key);
  if (value == nullptr) context.read.error(map, fmt::format("{} needs the key '{}'", what, key));
  return value;
}

std::string sluice_name(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    result += fits ? c : '_';
  }
  if (result.empty() || (result[0] >= '0' && result[0] <= '9')) result.insert(0, "_");
  static const std::set<std::string> kWords = {
      "All", "Nothing", "Intermediates", "Shared", "Other", "Persistent", "ops"};
  if (kWords.count(result) > 0 || is_expression_keyword(result)) result += "_";
  return result;
}

void note_other_keys(ImportContext& context, const YamlNode& map, const std::string& what,
                     const std::set<std::string>& known) {
  std::vector<std::string> absent;
  for (const std::string& key : known)
    if (find_key(map, key) == nullptr) absent.push_back(key);
  for (const YamlEntry& entry : map.entries)
    if (known.count(with_underscores(entry.key->text)) == 0)
      context.note_or_warn(
          *entry.key,
          fmt::format("'{}' of {} has no counterpart and is left out", entry.key->text, what),
          did_you_mean(with_underscores(entry.key->text), absent));
}

bool has_misspelt_key(ImportContext& context, const YamlNode& map, const std::string& what,
                      const std::vector<std::string>& keys) {
  for (const YamlEntry& entry : map.entries) {
    const std::string near = nearest_name(with_underscores(entry.key->text), keys);
    if (near.empty() || find_key(map, near) != nullptr) continue;
    context.read.error(*entry.key, fmt::format("{} has no key '{}'", what, entry.key->text),
                       fmt::format("did you mean '{}'?", near));
    return true;
  }
  return false;
}

void Attributes::add(const YamlNode* map) {
  if (map == nullptr) return;
  for (const YamlEntry& entry : map->entries)
    values_[with_underscores(entry.key->text)] = entry.value.get();
}

const YamlNode* Attributes::find(const std::vector<std::string>& keys) {
  const YamlNode* found = nullptr;
  expect(keys);
  for (const std::string& key : keys) {
    const auto value = values_.find(key);
    if (value == values_.end()) continue;
    used_.insert(key);
    if (found == nullptr) found = value->second;
  }
  return found;
}

std::optional<double> Attributes::number(ImportContext& context,
                                         const std::vector<std::string>& keys, bool zero) {
  const YamlNode* node = find(keys);
  if (node == nullptr) return std::nullopt;
  note_others(context, keys, *node);
  const YamlPointer bound = with_attributes(context, *node, 0);
  const auto value = read_quantity(context.read, bound ? bound.get() : node,
                                   {.what = keys.front().c_str(), .zero = zero, .infinite = true});
  return value ? std::optional(value->value) : std::nullopt;
}

std::optional<std::int64_t> Attributes::integer(ImportContext& context,
                                                const std::vector<std::string>& keys,
                                                std::int64_t minimum) {
  const YamlNode* node = find(keys);
  if (node == nullptr) return std::nullopt;
  note_others(context, keys, *node);
  const YamlPointer bound = with_attributes(context, *node, 0);
  return read_integer(context.read, bound ? bound.get() : node, keys.front().c_str(), minimum);
}

/// Attributes may be written with others of the same component: `width: datawidth * 3`. Null where
/// it names none.
YamlPointer Attributes::with_attributes(ImportContext& context, const YamlNode& node,
                                        int depth) const {
  constexpr int kDeepest = 20;
  constexpr std::size_t kLongest = 4000;
  const auto parsed = node.is_scalar() ? Expression::parse(node.text) : Expression();
  if (!parsed || parsed->names().empty() || depth > kDeepest) return nullptr;
  bool is_bound = false;
  const Expression expression = parsed->substitute([&](const std::string& name) {
    const auto other = values_.find(name);
    if (other == values_.end() || other->second == &node) return std::optional<Expression>();
    const YamlPointer inner = with_attributes(context, *other->second, depth + 1);
    const auto value = Expression::parse(inner ? inner->text : other->second->text);
    is_bound |= value.has_value();
    return value ? std::optional(*value) : std::nullopt;
  });
  if (!is_bound) return nullptr;
  auto bound = std::make_shared<YamlNode>(node);
  bound->text = expression.to_string();
  return bound->text.size() > kLongest ? nullptr : bound;
}

/// Other names of an attribute that say something else than the one that counts.
void Attributes::note_others(ImportContext& context, const std::vector<std::string>& keys,
                             const YamlNode& counting) const {
  for (const std::string& key : keys) {
    const auto other = values_.find(key);
    if (other == values_.end() || other->second->text == counting.text) continue;
    context.note(*other->second, fmt::format("the attribute '{}' is left out: another name of it "
                                             "says {}",
                                             key, counting.text));
  }
}

std::vector<std::pair<std::string, const YamlNode*>> Attributes::unused() const {
  std::vector<std::pair<std::string, const YamlNode*>> found;
  for (const auto& [key, value] : values_)
    if (used_.count(key) == 0) found.emplace_back(key, value);
  return found;
}

std::string Attributes::likely(const std::string& key) const {
  constexpr std::size_t kLongerAtMost = 2;  // `metadata_storage_width` is no `data_storage_width`
  const bool is_variable = std::none_of(key.begin(), key.end(), [](char c) {  // of other attributes
    return c >= 'a' && c <= 'z';
  });
  if (is_variable) return {};
  std::vector<std::string> absent;
  for (const std::string& wanted : expected_)
    if (values_.count(wanted) == 0 && wanted.size() <= key.size() + kLongerAtMost &&
        key.size() <= wanted.size() + kLongerAtMost)
      absent.push_back(wanted);
  return nearest_name(key, absent);
}

}  // namespace sluice
