#pragma once

#include <string>

#include "console.h"
#include "report/document/execution_document.h"

namespace sluice::cli {

/// What execution_document_text says, for people.
std::string execution_summary(const Console& console, const ExecutionResult& result);

}  // namespace sluice::cli
