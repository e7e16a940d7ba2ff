#pragma once

#include <string>

#include "console.h"
#include "report/document/bounds_document.h"

namespace sluice::cli {

/// The report as a table, one line for each value of the varied field, and what it holds for.
std::string bounds_table(const Console& console, const BoundsReport& report);

}  // namespace sluice::cli
