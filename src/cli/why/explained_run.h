#pragma once

#include "explain.h"
#include "sluice/report/result_document.h"

namespace sluice::cli {

/// Throws Failure where several objectives ask for several best mappings.
void require_one_objective(const MapperOptions& options);

/// The part of a budget that the search itself has where an explanation follows.
MapperOptions with_budget_for_why(MapperOptions options);

/// Explains the first mapping of a result. `options`: of the search; `seconds`: that the budget has
/// left, none without a budget.
Explanation explain_first(const Mapper& mapper, const RunResult& result, MapperOptions options,
                          std::optional<double> seconds, const std::atomic<bool>& cancel,
                          const QuestionProgress& progress);

}  // namespace sluice::cli
