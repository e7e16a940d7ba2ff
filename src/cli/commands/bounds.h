#pragma once

#include <atomic>

#include "commands.h"
#include "report/document/bounds_document.h"

namespace sluice::cli {

/// What `sluice bounds` searches for, without writing anything. Throws Failure as all commands do;
/// once `cancel` is set, it ends with what was found by then.
BoundsReport find_bounds(const BoundsArguments& arguments, const Console& console,
                         const std::atomic<bool>& cancel);

}  // namespace sluice::cli
