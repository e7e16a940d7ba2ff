#pragma once

#include "sluice/mapping/mapping.h"

namespace sluice {

/// The normal form of a mapping (model.md): a storage node names one tensor, and stands where it
/// takes effect: a non-backing one below the fully relevant temporal loops and its own component's
/// spatial loops directly under it, at most at the next storage node that serves a common Einsum,
/// the first irrelevant loop, or the first partially relevant loop (which one `sliding` node passes
/// once). Loops of one trip are passed. A node that holds another one back stays where it is
/// written, because moving it would set the other one free: the normal form means what the mapping
/// means, and normalising it again changes nothing. Loops are kept as they are.
Mapping normal_form(const Mapping& mapping, const Workload& workload, const Arch& arch);

}  // namespace sluice
