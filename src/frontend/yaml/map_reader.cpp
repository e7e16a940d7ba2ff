#include "frontend/yaml/map_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/yaml/schema_recorder.h"

namespace sluice {

MapReader::MapReader(ReadContext& context, const YamlNode& node, std::string what)
    : context_(context), node_(node), what_(std::move(what)) {
  if (!node.is_map())
    context_.error(node, fmt::format("{} must be a map, not {}", what_, describe(node)));
  else if (context.recorder() != nullptr)
    context.recorder()->map(node, what_);
}

const YamlNode* MapReader::optional(const std::string& key) { return value_of(key, false); }

const YamlNode* MapReader::value_of(const std::string& key, bool is_required) {
  known_.push_back(key);
  const YamlNode* value = node_.find(key);
  if (context_.recorder() != nullptr) context_.recorder()->key(node_, key, value, is_required);
  return value;
}

const YamlNode* MapReader::required(const std::string& key) {
  const YamlNode* value = value_of(key, true);
  if (value != nullptr || !node_.is_map()) return value;
  const bool may_be_misspelt =
      std::any_of(node_.entries.begin(), node_.entries.end(), [&](const YamlEntry& entry) {
        return !is_known(entry) && !nearest_name(entry.key->text, {key}).empty();
      });
  if (may_be_misspelt) {
    context_.error_that_follows();
    misspelt_.push_back(key);
  } else {
    report_missing(key);
  }
  return nullptr;
}

bool MapReader::is_misspelt(const std::string& key) const {
  return std::any_of(node_.entries.begin(), node_.entries.end(), [&](const YamlEntry& entry) {
    return !is_known(entry) && nearest_name(entry.key->text, known_) == key;
  });
}

bool MapReader::is_known(const YamlEntry& entry) const {
  return std::find(known_.begin(), known_.end(), entry.key->text) != known_.end();
}

void MapReader::report_missing(const std::string& key) {
  context_.error(node_, fmt::format("{} needs the key '{}'", what_, key));
}

void MapReader::belongs_into(const std::string& section, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) section_of_[key] = section;
}

void MapReader::finish() {
  for (const std::string& key : misspelt_)
    if (!is_misspelt(key)) report_missing(key);
  for (const YamlEntry& entry : node_.entries) {
    const std::string& key = entry.key->text;
    if (is_known(entry)) continue;
    const auto elsewhere = section_of_.find(key);
    context_.error(
        *entry.key, fmt::format("{} has no key '{}'", what_, key),
        elsewhere != section_of_.end()
            ? fmt::format("it belongs into `{}: {{{}: …}}`", elsewhere->second, key)
            : did_you_mean(key, known_, fmt::format("keys are {}", fmt::join(known_, ", "))));
  }
}

}  // namespace sluice
