#pragma once

#include <string>

#include "console.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// A result for people, as text for console.out: what was found and its guarantee, energy and
/// latency by component, the bottleneck and the bound, occupancy, fusion groups, the loop tree.
std::string summary_text(const Console& console, const RunResult& result);

}  // namespace sluice::cli
