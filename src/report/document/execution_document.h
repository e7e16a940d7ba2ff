#pragma once

#include <string>
#include <vector>

#include "disagreements.h"
#include "result_document.h"
#include "sluice/support/diagnostic.h"

namespace sluice::cli {

/// One mapping, run, and priced for comparison.
struct ExecutedMapping {
  Mapping mapping;
  Execution execution;
  Evaluation evaluation;
  std::vector<std::string> disagreements;  ///< between the two
};

/// What `sluice execute` found out.
struct ExecutionResult {
  BoundProblem problem;
  std::vector<ExecutedMapping> mappings;
  std::uint64_t seed = 0;
  Diagnostics diagnostics;
};

/// Illegal where one mapping does not run as it should; not_run or unpriced where the executor or
/// the model cannot say it of one.
RunStatus status_of(const ExecutionResult& result);

/// The result document (docs/cli.md): the envelope of every command, with counts, occupancy,
/// numbers and complaints for each mapping.
std::string execution_document_text(const ExecutionResult& result);

}  // namespace sluice::cli
