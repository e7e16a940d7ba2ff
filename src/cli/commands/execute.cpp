#include "sluice/sim/execute.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "../execution_document.h"
#include "../failure.h"
#include "../output_folder.h"
#include "commands.h"

namespace sluice::cli {

ExitCode run_execute(const ExecuteArguments& arguments, const Console& console) {
  const Specs specs = load(arguments.specs);
  ExecutionResult result{bind_or_fail(specs), {}, arguments.seed, specs.warnings};
  if (specs.mappings.empty())
    throw Failure(ExitCode::kBadInput, "no mapping: none of the files has `mapping:`",
                  "name one last: sluice execute WORKLOAD ARCH MAPPING");
  if (!arguments.trace.empty() && specs.mappings.size() > 1)
    throw Failure(ExitCode::kBadInput, "--trace takes one mapping; the files have several");
  ExecutionOptions options;
  options.seed = arguments.seed;
  options.record_steps = !arguments.trace.empty();
  bool all_agree = true;
  for (const Mapping& mapping : specs.mappings) {
    ExecutedMapping executed{mapping, {}, evaluate(result.problem, mapping), {}};
    executed.execution = execute(result.problem.workload, result.problem.arch, mapping, options);
    executed.disagreements = disagreements(result.problem, executed.evaluation, executed.execution);
    all_agree = all_agree && executed.execution.is_legal() && executed.disagreements.empty();
    result.mappings.push_back(std::move(executed));
  }
  if (!arguments.trace.empty()) {
    const Execution& execution = result.mappings.front().execution;
    write_atomically(arguments.trace, trace_text(execution, result.problem));
    write_atomically(arguments.trace + ".txt",
                     step_listing(execution, result.problem.workload, result.problem.arch));
  }
  print_diagnostics(console, result.diagnostics);
  console.out << (arguments.json ? execution_document_text(result)
                                 : execution_summary(console, result))
              << std::flush;
  if (!console.out) throw Failure(ExitCode::kFileTrouble, "cannot write to standard output");
  return all_agree ? ExitCode::kSuccess : ExitCode::kHonestNo;
}

}  // namespace sluice::cli
