#pragma once

#include <string>

#include "report/text/console.h"
#include "sluice/sweep/sweep_table.h"

namespace sluice::cli {

/// The table for people: what varies, and what was found. Of many runs those with the least
/// `objective` (name of a column).
std::string sweep_text(const Console& console, const SweepTable& table,
                       const std::string& objective);

}  // namespace sluice::cli
