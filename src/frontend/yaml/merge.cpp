#include "frontend/yaml/merge.h"

#include <algorithm>

namespace sluice {
namespace {

void add_hidden(const std::string& key, const YamlPointer& earlier, const YamlPointer& later,
                std::vector<Hidden>& hidden) {
  if (!earlier || !later || earlier == later || earlier->is_null() || later->is_null()) return;
  if (!earlier->is_map() || !later->is_map() || earlier->tag != later->tag) {
    if (!earlier->is_scalar()) hidden.push_back({key, earlier, later});
    return;
  }
  for (const YamlEntry& entry : later->entries)
    for (const YamlEntry& other : earlier->entries)
      if (other.key->text == entry.key->text)
        add_hidden(key.empty() ? entry.key->text : key + "." + entry.key->text, other.value,
                   entry.value, hidden);
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
  for (const YamlEntry& entry : later->entries) {
    const auto known =
        std::find_if(merged->entries.begin(), merged->entries.end(),
                     [&](const YamlEntry& other) { return other.key->text == entry.key->text; });
    if (known == merged->entries.end())
      merged->entries.push_back(entry);
    else
      *known = {entry.key, merge(known->value, entry.value)};
  }
  update_extent(*merged);
  return merged;
}

}  // namespace sluice
