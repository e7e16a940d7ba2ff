#pragma once

#include <cstddef>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// A text in the notation of libconfig (`arch = { storage = ( … ); };`, Timeloop's `.cfg` files) as
/// a map of its settings: groups are maps, lists and arrays are lists. Null where it is none, which
/// is reported with its line. libconfig knows no columns: nodes stand at the first word of theirs.
YamlPointer parse_libconfig(ReadContext& context, std::size_t file);

}  // namespace sluice
