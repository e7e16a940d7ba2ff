#pragma once

#include "sluice/kapla/scheme.h"
#include "unit_pass.h"

namespace sluice::kapla {

/// The copies that the stacks of an array make of a pass. The stacks along the array's own
/// dimensions (the rows of window and plane, taps) are no copies, but for the rows beyond
/// `row_set`.
Copies copies_of(const Directives& directives, const LayerShape& layer, std::int64_t row_set);

}  // namespace sluice::kapla
