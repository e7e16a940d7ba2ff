#pragma once

#include <cstdint>
#include <vector>

#include "template.h"

namespace sluice::fused {

/// Loops below a slot of whose steps it reserves one: its node takes effect as far in as nothing
/// changes by it (model.md, normal form). Indices into Template::loops.
std::vector<std::uint32_t> sunk_loops(const EinsumShape& shape, const Template& templ,
                                      const Slot& slot);

}  // namespace sluice::fused
