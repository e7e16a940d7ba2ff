#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/interrupt.h"
#include "cli/io/leftovers.h"
#include "cli/why/explained_run.h"
#include "commands.h"
#include "earlier_result.h"
#include "publish.h"
#include "replaced_result.h"
#include "search_options.h"
#include "search_watch.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/network/network_search.h"
#include "sluice/support/human_units.h"
#include "support/seconds_since.h"

namespace sluice::cli {
namespace {

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
  if (earlier.is_damaged) warn_of_damaged(folder, console);
  warn_of_replaced(folder, earlier.differences, console);
  if (!earlier.objective || earlier.is_proven) return;
  const Objective objective = result.options->objectives.front();
  console.err << fmt::format(
                     "goes on from the search in {}{}: its best {} is {}\n", folder,
                     earlier.other_mapper.empty() ? "" : ", by the mapper " + earlier.other_mapper,
                     objective_name(objective),
                     human_si(*earlier.objective, unit_of(objective, console.ascii), console.ascii))
              << std::flush;
}

/// The search has the earlier mapping in hand, and its bound.
void go_on_from(const EarlierResult& earlier, const MapperOptions& options, SearchWatch* watch,
                MapperControl* control) {
  if (earlier.mappings.empty() || earlier.is_altered || earlier.is_damaged ||
      !asks_for_one(options)) {
    control->known_objective = earlier.objective;
    return;
  }
  control->known_bound = earlier.bound;
  const MappingOutcome& best = earlier.mappings.front();
  watch->go_on_from(*earlier.objective, {best.mapping, *best.cost});
}

/// What the parts of one run share.
struct Run {
  const MapperChoice& choice;
  const MapArguments& arguments;
  const Console& console;
  const std::atomic<bool>& cancel;
  MapperOptions options;  ///< of the search itself: with `--why` it has a part of the budget
};

void search(const Run& run, RunResult& result) {
  const MapArguments& arguments = run.arguments;
  const Console& console = run.console;
  ProgressLine progress(console, arguments.progress);
  MapperControl control;
  control.cancel = &run.cancel;
  const auto earlier = earlier_result(arguments, result);
  if (earlier) tell(*earlier, arguments.output.folder, result, console);
  SearchWatch watch(*run.choice.mapper, result, arguments.output,
                    earlier ? earlier->objective : std::nullopt, &progress);
  if (arguments.progress != ProgressStyle::kNone)
    control.progress = [&watch](const std::string& phase, double fraction) {
      watch.show(phase, fraction);
    };
  control.incumbent = watch.incumbent();
  if (earlier && !earlier->is_proven) go_on_from(*earlier, run.options, &watch, &control);
  leftovers().clear();
  control.leftovers = &leftovers();
  control.bound = [&watch](double bound) { watch.take_bound(bound); };
  auto found = search_network(run.choice, *result.problem, run.options, control);
  watch.finish();
  if (found) {
    take_over(std::move(*found), result);
  } else if (run.cancel && !found.error().proven) {  // what it did not find may still exist
    result.status = RunStatus::kInterrupted;
  } else {
    result.no_mapping = std::move(found.error());
    result.status = RunStatus::kNoMapping;
  }
  if (earlier && keep_better(*earlier, &result))
    console.err << (asks_for_one(*result.options)
                        ? fmt::format("keeps the mapping in {}: this search found none that is "
                                      "better\n",
                                      arguments.output.folder)
                        : fmt::format("keeps those mappings in {} that this search did not beat\n",
                                      arguments.output.folder));
  if (earlier) keep_bound(*earlier, &result);
}

/// The search takes unknown times and energies for none, and its result says again that they are
/// unknown.
void search_with_unknown(const Run& run, RunResult& result) {
  if (!has_unknown_prices(result.problem->arch)) return search(run, result);
  BoundProblem as_given = *result.problem;
  result.problem = without_unknown_prices(std::move(*result.problem));
  search(run, result);
  result.problem = std::move(as_given);
  for (MappingOutcome& outcome : result.outcomes)
    outcome.cost = evaluate(*result.problem, outcome.mapping, result.latency);
}

std::optional<double> left_of(std::optional<double> budget,
                              std::chrono::steady_clock::time_point begin) {
  if (!budget) return std::nullopt;
  return *budget - seconds_since(begin);
}

/// `seconds`: that the budget has left.
void explain_found(const Run& run, std::optional<double> seconds, RunResult& result) {
  ProgressLine progress(run.console, run.arguments.progress);
  QuestionProgress show;
  if (run.arguments.progress != ProgressStyle::kNone)
    show = [&progress](const std::string& phase, double fraction, std::size_t question,
                       std::size_t n_questions) {
      progress.show(phase, fraction, {fmt::format("question {} of {}", question, n_questions)});
    };
  result.why = explain_first(*run.choice.mapper, result, run.options, seconds, run.cancel, show);
}

/// What is searched, and how.
RunResult prepared(const MapArguments& arguments, const Specs& specs, const Console& console) {
  RunResult result;
  result.command = "map";
  result.diagnostics = specs.warnings;
  result.options = search_options_or_fail(arguments.options, specs);
  result.latency = result.options->policy;
  mapper_or_fail(result.options->mapper);
  if (arguments.why) require_one_objective(*result.options);
  result.problem = bind_or_fail(specs, arguments.specs);
  if (!arguments.output.folder.empty())  // a search may take unknown times for none
    result.specs_text = specs_text(*result.problem);
  result.sources = specs.sources;
  result.shows_sources = arguments.output.sources;
  console.log.note(fmt::format("bound {} Einsums to {} components",
                               result.problem->workload.einsums.size(),
                               result.problem->arch.components.size()));
  require_prices_of_search(result.problem->arch, specs, *result.options, arguments.why);
  return result;
}

}  // namespace

ExitCode run_map(const MapArguments& arguments, const Console& console) {
  const InterruptGuard interrupt;  // a signal while files are read is one to the search
  const Specs specs = load(arguments.specs);
  console.log.note("read the specs");
  RunResult result =
      with_notes(specs.warnings, [&] { return prepared(arguments, specs, console); });
  const MapperChoice choice = choose_mapper(arguments.options, specs, all_mappers(), &result);
  prepare_output(arguments.output);
  const auto begin = std::chrono::steady_clock::now();
  const Run run{choice, arguments, console, interrupt.flag(),
                arguments.why ? with_budget_for_why(*result.options) : *result.options};
  search_with_unknown(run, result);
  if (!result.outcomes.empty())
    warn_of_mapping(*result.problem, result.outcomes.front().mapping,
                    "a constraint asks for it, which counts more; the bounds do not hold for it",
                    &result.diagnostics);
  console.log.note(fmt::format("searched: {}", status_name(result.status)));
  if (arguments.why && !result.outcomes.empty()) {
    if (!arguments.output.folder.empty()) write_result(result, arguments.output.folder);
    explain_found(run, left_of(result.options->budget_seconds, begin), result);
  }
  publish(result, arguments.output, console);
  return result.why && result.why->is_interrupted ? ExitCode::kInterrupted
                                                  : exit_code_of(result.status);
}

}  // namespace sluice::cli
