#include "sluice/referee/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/interrupt.h"
#include "cli/io/output_folder.h"
#include "cli/io/progress.h"
#include "cli/io/tensor_numbers.h"
#include "cli/io/trace_files.h"
#include "commands.h"
#include "constrained.h"
#include "report/document/execution_document.h"
#include "report/text/execution_summary.h"

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
  if (const auto why = too_large_to_execute(workload))
    throw Failure(ExitCode::kHonestNo, *why, "set variables to small sizes: --set NAME=VALUE");
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

void watch(ExecutionOptions& options, ProgressLine& line, const InterruptGuard& interrupt) {
  options.cancel = &interrupt.flag();
  options.progress = [&line](const ExecutionProgress& progress) {
    line.show(progress.phase,
              static_cast<double>(progress.done) /
                  static_cast<double>(std::max<std::int64_t>(progress.all, 1)),
              {.text = fmt::format("{} of {} points", progress.done, progress.all)});
  };
}

/// Whether all run as they should and the model agrees. Ctrl-C ends the command before it has
/// written anything.
bool run_mappings(const std::vector<Mapping>& mappings, const ExecuteArguments& arguments,
                  ExecutionOptions& options, const Console& console, ExecutionResult& result) {
  ProgressLine progress(console, arguments.progress);
  const InterruptGuard interrupt;
  watch(options, progress, interrupt);
  bool all_agree = true;
  for (const Mapping& mapping : mappings) {
    ExecutedMapping executed{mapping, {}, evaluate(result.problem, mapping), {}};
    executed.execution = execute(result.problem.workload, result.problem.arch, mapping, options);
    if (executed.execution.cancelled || interrupt.flag())
      throw Failure(ExitCode::kInterrupted, "interrupted: nothing was written");
    executed.disagreements = disagreements(result.problem, executed.evaluation, executed.execution);
    const bool runs = executed.execution.is_legal() || executed.execution.is_unsupported();
    all_agree = all_agree && runs && executed.disagreements.empty();
    result.mappings.push_back(std::move(executed));
  }
  return all_agree;
}

/// Where a mapping is illegal that the executor refuses, too; that names no lines.
void say_where(const Specs& specs, ExecutionResult& result) {
  for (std::size_t i = 0; i < result.mappings.size(); ++i) {
    const ExecutedMapping& executed = result.mappings[i];
    const Execution& run = executed.execution;
    if (executed.evaluation || run.is_legal() || run.is_unsupported()) continue;
    for (const Violation& violation : executed.evaluation.error())
      if (violation.kind != ViolationKind::kUnsupportedNode)
        result.diagnostics.push_back(mistake_at(specs, i, violation, violation.message));
  }
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
  std::optional<TraceFiles> trace;
  if (!arguments.trace.empty()) {
    trace.emplace(arguments.trace, result.problem);
    options.on_step = [&trace](const ExecutionStep& step) { trace->add(step); };
  }
  options.inputs = inputs_of(arguments, result.problem.workload);
  options.record_values = !arguments.outputs.empty();
  const bool all_agree = run_mappings(specs.mappings, arguments, options, console, result);
  say_where(specs, result);
  if (trace) trace->publish();
  if (!arguments.outputs.empty())
    write_atomically(
        arguments.outputs,
        tensor_numbers_text(result.problem.workload, result.mappings.front().execution.values));
  print_diagnostics(console, result.diagnostics);
  console.out << (arguments.json ? execution_document_text(result)
                                 : execution_summary(console, result))
              << std::flush;
  if (!all_agree) return ExitCode::kHonestNo;
  return exit_code_of(status_of(result));
}

}  // namespace sluice::cli
