#include <fmt/format.h>

#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/interrupt.h"
#include "commands.h"
#include "earlier_result.h"
#include "publish.h"
#include "replaced_result.h"
#include "search_options.h"
#include "search_watch.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/selection.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/unknown_times.h"
#include "sluice/support/human_units.h"

namespace sluice::cli {
namespace {

/// The mapper that was chosen, or the one that fits where nobody chose.
const Mapper& mapper_of(const MapArguments& arguments, const Specs& specs, RunResult& result) {
  MapperOptions& options = *result.options;
  const bool is_chosen =
      arguments.options.contains("mapper") || specs.mapper_options.contains("mapper");
  const Mapper* mapper = &mapper_or_fail(options.mapper);
  if (!is_chosen) {
    const MapperChoice choice = default_mapper(*result.problem, options);
    mapper = choice.mapper;
    result.mapper_reason = choice.reason;
    options.mapper = mapper->name();
  }
  if (options.mapper == "fused") require_time_budget(options);
  return *mapper;
}

void take_over(MapperResult&& found, RunResult& result) {
  for (MappedResult& mapped : found.mappings)
    result.outcomes.push_back({std::move(mapped.mapping), std::move(mapped.cost)});
  result.guarantee = std::move(found.guarantee);
  result.search = found.search;
  if (found.cancelled) result.status = RunStatus::kInterrupted;
}

/// What becomes of the result in the folder: whoever did not mean it can still interrupt.
void tell(const EarlierResult& earlier, const std::string& folder, const RunResult& result,
          const Console& console) {
  warn_of_replaced(folder, earlier.differences, console);
  if (!earlier.objective || earlier.is_proven) return;
  const Objective objective = result.options->objectives.front();
  console.err << fmt::format(
                     "goes on from the search in {}: its best {} is {}\n", folder,
                     objective_name(objective),
                     human_si(*earlier.objective, unit_of(objective, console.ascii), console.ascii))
              << std::flush;
}

void search(const Mapper& mapper, const MapArguments& arguments, const Console& console,
            RunResult& result) {
  ProgressLine progress(console, arguments.progress);
  const InterruptGuard interrupt;
  MapperControl control;
  control.cancel = &interrupt.flag();
  const auto earlier = earlier_result(arguments, result);
  if (earlier && !earlier->is_proven) control.known_objective = earlier->objective;
  if (earlier) tell(*earlier, arguments.output.folder, result, console);
  SearchWatch watch(result, arguments.output, earlier ? earlier->objective : std::nullopt,
                    &progress);
  if (arguments.progress != ProgressStyle::kNone)
    control.progress = [&watch](const std::string& phase, double fraction) {
      watch.show(phase, fraction);
    };
  control.incumbent = watch.incumbent();
  control.bound = [&watch](double bound) { watch.take_bound(bound); };
  auto found = run_mapper(mapper, *result.problem, *result.options, control);
  watch.finish();
  if (found) {
    take_over(std::move(*found), result);
  } else if (interrupt.flag() && !found.error().proven) {  // what it did not find may still exist
    result.status = RunStatus::kInterrupted;
  } else {
    result.no_mapping = std::move(found.error());
    result.status = RunStatus::kNoMapping;
  }
  if (earlier && keep_better(*earlier, &result))
    console.err << fmt::format("keeps the mapping in {}: this search found none that is better\n",
                               arguments.output.folder);
}

/// The search takes unknown times for none, and its result says again that they are unknown.
void search_with_times(const Mapper& mapper, const MapArguments& arguments, const Console& console,
                       RunResult& result) {
  if (unknown_times(result.problem->arch).empty())
    return search(mapper, arguments, console, result);
  BoundProblem as_given = *result.problem;
  result.problem->arch = with_unlimited_times(std::move(result.problem->arch));
  search(mapper, arguments, console, result);
  result.problem = std::move(as_given);
  for (MappingOutcome& outcome : result.outcomes)
    outcome.cost = evaluate(*result.problem, outcome.mapping, result.latency);
}

}  // namespace

ExitCode run_map(const MapArguments& arguments, const Console& console) {
  const Specs specs = load(arguments.specs);
  console.log.note("read the specs");
  RunResult result;
  result.command = "map";
  result.diagnostics = specs.warnings;
  result.options = search_options(arguments.options, specs);
  result.latency = result.options->policy;
  mapper_or_fail(result.options->mapper);
  result.problem = bind_or_fail(specs, arguments.specs);
  if (!arguments.output.folder.empty())  // a search may take unknown times for none
    result.specs_text = specs_text(*result.problem);
  result.sources = specs.sources;
  result.shows_sources = arguments.output.sources;
  console.log.note(fmt::format("bound {} Einsums to {} components",
                               result.problem->workload.einsums.size(),
                               result.problem->arch.components.size()));
  require_energies(result.problem->arch);
  require_times(result.problem->arch, *result.options);
  const Mapper& mapper = mapper_of(arguments, specs, result);
  prepare_output(arguments.output);
  search_with_times(mapper, arguments, console, result);
  if (!result.outcomes.empty())
    warn_of_kept(*result.problem, result.outcomes.front().mapping,
                 "a constraint asks for it, which counts more; the bounds do not hold for it",
                 &result.diagnostics);
  console.log.note(fmt::format("searched: {}", status_name(result.status)));
  publish(result, arguments.output, console);
  return exit_code_of(result.status);
}

}  // namespace sluice::cli
