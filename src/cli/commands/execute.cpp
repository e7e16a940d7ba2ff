#include "sluice/sim/execute.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "../execution_document.h"
#include "../failure.h"
#include "../output_folder.h"
#include "../tensor_numbers.h"
#include "commands.h"

namespace sluice::cli {
namespace {

TensorValues inputs_of(const ExecuteArguments& arguments, const Workload& workload) {
  if (arguments.inputs.empty()) return {};
  return read_input_numbers(arguments.inputs, workload);
}

/// No mapping: only the numbers that the Einsums define.
ExitCode evaluate_plainly(const ExecuteArguments& arguments, const Specs& specs,
                          const Console& console) {
  const Workload& workload = *specs.workload;
  const std::int64_t limit = ExecutionOptions{}.max_points;
  if (count_points(workload, limit) > limit)
    throw Failure(ExitCode::kHonestNo,
                  fmt::format("the workload has more than {} points: too many to be walked one by "
                              "one",
                              limit),
                  "set variables to small sizes: --set NAME=VALUE");
  const TensorValues values =
      plain_evaluation(workload, arguments.seed, inputs_of(arguments, workload));
  write_atomically(arguments.outputs, tensor_numbers_text(workload, values));
  print_diagnostics(console, specs.warnings);
  ExecutionResult nothing_run;
  nothing_run.problem.workload = workload;
  nothing_run.seed = arguments.seed;
  nothing_run.diagnostics = specs.warnings;
  console.out << (arguments.json
                      ? execution_document_text(nothing_run)
                      : fmt::format("{}: plain evaluation, without a mapping\n", workload.name))
              << std::flush;
  return ExitCode::kSuccess;
}

void check_arguments(const ExecuteArguments& arguments, const Specs& specs) {
  if (specs.mappings.empty())
    throw Failure(
        Diagnostics{missing_section(arguments.specs, "no mapping: none of the files has `mapping:`",
                                    "name one last: sluice execute WORKLOAD ARCH MAPPING")});
  if (specs.mappings.size() == 1) return;
  if (!arguments.trace.empty())
    throw Failure(ExitCode::kBadInput, "--trace takes one mapping; the files have several");
  if (!arguments.outputs.empty())
    throw Failure(ExitCode::kBadInput, "--outputs takes one mapping; the files have several");
}

void write_files(const ExecuteArguments& arguments, const ExecutionResult& result) {
  const Execution& execution = result.mappings.front().execution;
  if (!arguments.trace.empty()) {
    write_atomically(arguments.trace, trace_text(execution, result.problem));
    write_atomically(arguments.trace + ".txt",
                     step_listing(execution, result.problem.workload, result.problem.arch));
  }
  if (!arguments.outputs.empty())
    write_atomically(arguments.outputs,
                     tensor_numbers_text(result.problem.workload, execution.values));
}

}  // namespace

ExitCode run_execute(const ExecuteArguments& arguments, const Console& console) {
  const Specs specs = load(arguments.specs);
  if (specs.mappings.empty() && specs.workload && !arguments.outputs.empty())
    return evaluate_plainly(arguments, specs, console);
  ExecutionResult result{bind_or_fail(specs, arguments.specs), {}, arguments.seed, specs.warnings};
  check_arguments(arguments, specs);
  ExecutionOptions options;
  options.seed = arguments.seed;
  options.record_steps = !arguments.trace.empty();
  options.inputs = inputs_of(arguments, result.problem.workload);
  options.record_values = !arguments.outputs.empty();
  bool all_agree = true;
  for (const Mapping& mapping : specs.mappings) {
    ExecutedMapping executed{mapping, {}, evaluate(result.problem, mapping), {}};
    executed.execution = execute(result.problem.workload, result.problem.arch, mapping, options);
    executed.disagreements = disagreements(result.problem, executed.evaluation, executed.execution);
    const bool runs = executed.execution.is_legal() || executed.execution.is_unsupported();
    all_agree = all_agree && runs && executed.disagreements.empty();
    result.mappings.push_back(std::move(executed));
  }
  write_files(arguments, result);
  print_diagnostics(console, result.diagnostics);
  console.out << (arguments.json ? execution_document_text(result)
                                 : execution_summary(console, result))
              << std::flush;
  if (!console.out) throw Failure(ExitCode::kFileTrouble, "cannot write to standard output");
  if (!all_agree) return ExitCode::kHonestNo;
  return exit_code_of(status_of(result));
}

}  // namespace sluice::cli
