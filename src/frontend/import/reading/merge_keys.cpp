#include "frontend/import/reading/merge_keys.h"

#include <memory>
#include <utility>

namespace sluice {
namespace {

void merge_entry(std::vector<YamlEntry>& entries, const YamlEntry& entry, bool hierarchically);

/// The two values of one key under `<<<`.
YamlPointer merged_values(const YamlPointer& own, const YamlPointer& other) {
  const bool both_maps = own->is_map() && other->is_map();
  const bool both_lists = own->is_sequence() && other->is_sequence();
  if (own->tag == "!nomerge" || (!both_maps && !both_lists)) return own;
  auto both = std::make_shared<YamlNode>(*own);
  both->items.insert(both->items.end(), other->items.begin(), other->items.end());
  for (const YamlEntry& entry : other->entries) merge_entry(both->entries, entry, true);
  update_extent(*both);
  return both;
}

void merge_entry(std::vector<YamlEntry>& entries, const YamlEntry& entry, bool hierarchically) {
  for (YamlEntry& known : entries) {
    if (known.key->text != entry.key->text) continue;
    if (hierarchically) known.value = merged_values(known.value, entry.value);
    return;
  }
  entries.push_back(entry);
}

}  // namespace

std::vector<YamlEntry> merged_entries(
    const YamlNode& map, const std::function<YamlPointer(const YamlPointer&)>& in_place) {
  std::vector<YamlEntry> entries;
  std::vector<std::pair<YamlPointer, bool>> merged;  // with whether hierarchically
  for (const YamlEntry& entry : map.entries) {
    const YamlPointer value = in_place(entry.value);
    const bool hierarchically = entry.key->text == "<<<";
    if (!hierarchically && entry.key->text != "<<") {
      entries.push_back({entry.key, value});
    } else if (value->is_map()) {
      merged.emplace_back(value, hierarchically);
    } else {
      for (const YamlPointer& item : value->items) merged.emplace_back(item, hierarchically);
    }
  }
  for (const auto& [other, hierarchically] : merged)
    for (const YamlEntry& entry : other->entries) merge_entry(entries, entry, hierarchically);
  return entries;
}

}  // namespace sluice
