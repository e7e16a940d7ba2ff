#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// What the output folder holds from an earlier command.
struct EarlierResult {
  std::vector<std::string> differences;  ///< from what is asked for now
  bool is_same_request = false;          ///< found with the same options and constraints
  /// Where a search of it did not end, and left a mapping that is legal here: the mapping, priced
  /// anew with these specs, and its first objective.
  std::optional<MappingOutcome> best;
  std::optional<double> objective;
};

/// None where there is no result.
std::optional<EarlierResult> earlier_result(const MapArguments& arguments, const RunResult& result);

/// Puts the earlier mapping in place of what a search of the same request found, where that is
/// worse and not proven. Fronts and lists stay as they were found.
void keep_better(const EarlierResult& earlier, RunResult* result);

}  // namespace sluice::cli
