#include "frontend/yaml/merge.h"

#include <string>
#include <unordered_map>

namespace sluice {
namespace {

/// Where each key of a map stands; keys are given once.
std::unordered_map<std::string, std::size_t> places_of_keys(const YamlNode& map) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < map.entries.size(); ++i) places.emplace(map.entries[i].key->text, i);
  return places;
}

void add_hidden(const std::string& key, const YamlPointer& earlier, const YamlPointer& later,
                std::vector<Hidden>& hidden) {
  if (!earlier || !later || earlier == later || earlier->is_null() || later->is_null()) return;
  if (!earlier->is_map() || !later->is_map() || earlier->tag != later->tag) {
    if (!earlier->is_scalar()) hidden.push_back({key, earlier, later});
    return;
  }
  const auto places = places_of_keys(*earlier);
  for (const YamlEntry& entry : later->entries)
    if (const auto other = places.find(entry.key->text); other != places.end())
      add_hidden(key.empty() ? entry.key->text : key + "." + entry.key->text,
                 earlier->entries[other->second].value, entry.value, hidden);
}

}  // namespace

std::vector<Hidden> hidden_by(const YamlPointer& earlier, const YamlPointer& later) {
  std::vector<Hidden> hidden;
  add_hidden({}, earlier, later, hidden);
  return hidden;
}

YamlPointer merge(const YamlPointer& earlier, const YamlPointer& later) {
  if (!earlier || earlier->is_null()) return later;
  if (!later || later->is_null()) return earlier;
  if (!earlier->is_map() || !later->is_map() || earlier->tag != later->tag) return later;
  auto merged = std::make_shared<YamlNode>(*later);
  merged->entries = earlier->entries;
  const auto places = places_of_keys(*earlier);
  for (const YamlEntry& entry : later->entries) {
    const auto known = places.find(entry.key->text);
    if (known == places.end()) {
      merged->entries.push_back(entry);
    } else {
      YamlEntry& both = merged->entries[known->second];
      both = {entry.key, merge(both.value, entry.value)};
    }
  }
  update_extent(*merged);
  return merged;
}

}  // namespace sluice
