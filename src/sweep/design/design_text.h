#pragma once

#include <string>

#include "report/text/console.h"
#include "sluice/sweep/design.h"

namespace sluice::cli {

/// The result for people: the best design, how sure that is, and what was looked at.
std::string design_text(const Console& console, const DesignResult& result);

}  // namespace sluice::cli
