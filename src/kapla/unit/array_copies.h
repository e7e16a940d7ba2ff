#pragma once

#include <string>
#include <tl/expected.hpp>

#include "find_pass.h"
#include "unit_pass.h"

namespace sluice::kapla {

/// The copies that the stacks of an array make of a pass. The stacks along the array's own
/// dimensions (the rows of window and plane, taps) are no copies, but for the rows beyond
/// `row_set`.
/// A sentence where they are more than the array has elements.
tl::expected<Copies, std::string> copies_of(const PassQuestion& question, std::int64_t row_set);

}  // namespace sluice::kapla
