#pragma once

#include <string>

#include "console.h"
#include "sluice/report/result_document.h"

namespace sluice::cli {

/// What `map --why` adds to the summary (docs/why.md). `result.why` must be there.
std::string why_text(const Console& console, const RunResult& result);

}  // namespace sluice::cli
