#pragma once

#include <functional>
#include <vector>

#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// A map's entries after `<<` and `<<<` in it, as timeloopfe and AccelForge read them: the map's
/// own keys win, then those of the first map that is merged. `<<<` merges what stands under the
/// same key, too: maps key by key, lists one after the other (the own items first), unless the own
/// value has the tag `!nomerge`. `in_place` gives a value its final form.
std::vector<YamlEntry> merged_entries(
    const YamlNode& map, const std::function<YamlPointer(const YamlPointer&)>& in_place);

}  // namespace sluice
