#pragma once

#include <string>
#include <vector>

#include "cli/io/exit_code.h"
#include "report/text/console.h"

namespace sluice::cli {

/// Prints a JSON Schema: of spec files, or of the result document.
ExitCode run_schema(const std::string& kind, const Console& console);
const std::vector<std::string>& schema_kinds();

}  // namespace sluice::cli
