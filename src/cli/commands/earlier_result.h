#pragma once

#include <optional>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// The best mapping that an interrupted `map` left in the output folder.
struct EarlierResult {
  MappingOutcome best;           ///< priced anew with these specs
  double objective = 0;          ///< the first one
  bool is_same_request = false;  ///< found with the same options and constraints
};

/// None where there is no such result, or where its mapping is not legal here: then the search
/// starts afresh.
std::optional<EarlierResult> interrupted_result(const MapArguments& arguments,
                                                const RunResult& result);

/// Puts the earlier mapping in place of what a search of the same request found, where that is
/// worse and not proven. Fronts and lists stay as they were found.
void keep_better(const EarlierResult& earlier, RunResult* result);

}  // namespace sluice::cli
