#include "frontend/merge.h"

#include <algorithm>

namespace sluice {

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
