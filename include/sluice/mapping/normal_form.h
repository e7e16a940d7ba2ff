#pragma once

#include "sluice/mapping/mapping.h"

namespace sluice {

/// The normal form of a mapping (model.md): a storage node names one tensor; a non-backing node
/// sinks below the fully relevant temporal loops and its own component's spatial loops directly
/// under it, at most to the next storage node, the first irrelevant loop, or the first partially
/// relevant loop (which one `sliding` node passes once). Loops are kept as they are. Idempotent.
Mapping normal_form(const Mapping& mapping, const Workload& workload, const Arch& arch);

}  // namespace sluice
