#include "explained_run.h"

#include <algorithm>
#include <cmath>

#include "cli/io/failure.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/support/error.h"

namespace sluice::cli {

void require_one_objective(const MapperOptions& options) {
  if (options.objectives.size() > 1 || options.resource_usage)
    throw Failure(ExitCode::kBadInput, "--why explains the best mapping for one objective",
                  "give it one, such as --objective edp");
}

MapperOptions with_budget_for_why(MapperOptions options) {
  constexpr double kPart = 0.5;
  if (options.budget_seconds) *options.budget_seconds *= kPart;
  if (options.budget_evaluations)
    options.budget_evaluations = std::max(1.0, std::floor(kPart * *options.budget_evaluations));
  return options;
}

Explanation explain_first(const Mapper& mapper, const RunResult& result, MapperOptions options,
                          std::optional<double> seconds, const std::atomic<bool>& cancel,
                          const QuestionProgress& progress) {
  const MappingOutcome& first = result.outcomes.front();
  options.budget_seconds = seconds;
  const BoundProblem searched = without_unknown_prices(*result.problem);
  const auto cost = evaluate(searched, first.mapping, result.latency);
  SLUICE_CHECK(cost.has_value(), "a mapping that was found is illegal");
  return explain({mapper, searched, first.mapping, *cost, result.guarantee.value_or(Guarantee{})},
                 options, cancel, progress);
}

}  // namespace sluice::cli
