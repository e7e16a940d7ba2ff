#include "sluice/model/evaluate.h"

#include "../failure.h"
#include "commands.h"
#include "publish.h"

namespace sluice::cli {

ExitCode run_evaluate(const EvaluateArguments& arguments, const Console& console) {
  Specs specs = load(arguments.specs);
  RunResult result;
  console.log.note("read the specs");
  result.command = "evaluate";
  result.diagnostics = specs.warnings;
  result.problem = bind_or_fail(specs);
  if (specs.mappings.empty())
    throw Failure(ExitCode::kBadInput, "no mapping: none of the files has `mapping:`",
                  "name one last: sluice evaluate WORKLOAD ARCH MAPPING");
  prepare_output(arguments.output);
  for (Mapping& mapping : specs.mappings) {
    auto cost = evaluate(*result.problem, mapping);
    if (!cost) result.status = RunStatus::kIllegal;
    result.outcomes.push_back({std::move(mapping), std::move(cost)});
  }
  console.log.note("evaluated every mapping");
  publish(result, arguments.output, console);
  return result.status == RunStatus::kIllegal ? ExitCode::kHonestNo : ExitCode::kSuccess;
}

}  // namespace sluice::cli
