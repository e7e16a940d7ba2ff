#pragma once

#include <string>

#include "console.h"
#include "sluice/report/comparison.h"

namespace sluice::cli {

/// The comparison for people: what was asked for, totals, the largest differences, loop trees.
std::string comparison_text(const Console& console, const ResultComparison& comparison);

}  // namespace sluice::cli
