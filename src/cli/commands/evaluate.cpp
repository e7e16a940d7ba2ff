#include <fmt/format.h>

#include "cli/io/failure.h"
#include "commands.h"
#include "constrained.h"
#include "publish.h"
#include "replaced_result.h"

namespace sluice::cli {
namespace {

/// The names of a command line, told apart by what their files bring.
struct EvaluateFiles {
  SpecArguments specs;                ///< workload, architecture, and what else is merged into them
  std::vector<std::string> mappings;  ///< files that bring mappings of their own
};

/// Merging keeps the mappings of the last file only; here every file's mappings count. So each file
/// after the workload and the architecture is loaded with these to see whether it brings any.
/// Throws where these do not go without what follows.
EvaluateFiles sort_files(const SpecArguments& arguments) {
  constexpr std::size_t kFirstMapping = 2;
  EvaluateFiles files{arguments, {}};
  files.specs.names.resize(std::min(kFirstMapping, arguments.names.size()));
  for (std::size_t i = kFirstMapping; i < arguments.names.size(); ++i) {
    SpecArguments with_file = files.specs;
    with_file.names.push_back(arguments.names[i]);
    if (load(with_file).mappings.empty())
      files.specs = with_file;
    else
      files.mappings.push_back(arguments.names[i]);
  }
  return files;
}

Specs load_with_mappings(const SpecArguments& arguments) {
  constexpr std::size_t kOneMappingFile = 3;
  if (arguments.names.size() <= kOneMappingFile) return load(arguments);
  EvaluateFiles files;
  try {
    files = sort_files(arguments);
  } catch (const Failure&) {
    return load(arguments);  // which says what is wrong, if anything is
  }
  if (files.mappings.size() < 2) return load(arguments);
  Specs all;
  std::vector<Mapping> mappings;
  std::vector<MappingPlaces> places;
  for (const std::string& file : files.mappings) {
    SpecArguments with_file = files.specs;
    with_file.names.push_back(file);
    all = load(with_file);
    mappings.insert(mappings.end(), all.mappings.begin(), all.mappings.end());
    places.insert(places.end(), all.mapping_places.begin(), all.mapping_places.end());
  }
  all.mappings = std::move(mappings);
  all.mapping_places = std::move(places);
  return all;
}

}  // namespace

ExitCode run_evaluate(const EvaluateArguments& arguments, const Console& console) {
  Specs specs = load_with_mappings(arguments.specs);
  console.log.note("read the specs");
  RunResult result;
  result.command = "evaluate";
  result.diagnostics = specs.warnings;
  result.problem = with_notes(specs.warnings, [&] { return bind_or_fail(specs, arguments.specs); });
  result.sources = specs.sources;
  result.shows_sources = arguments.output.sources;
  if (specs.mappings.empty())
    throw Failure(
        Diagnostics{missing_section(arguments.specs, "no mapping: none of the files has `mapping:`",
                                    "name one last: sluice evaluate WORKLOAD ARCH MAPPING")});
  result.latency = arguments.latency;
  warn_of_replaced(arguments.output.folder, as_value(to_document(result)), console);
  prepare_output(arguments.output);
  for (std::size_t m = 0; m < specs.mappings.size(); ++m) {
    auto cost =
        evaluate_constrained(*result.problem, specs.mappings[m], result.latency, specs.constraints);
    if (!cost) add_violations(cost.error(), result.status);
    if (cost)
      warn_of_mapping(
          *result.problem, specs.mappings[m],
          "the mapping is priced all the same; mappers would not make it, and the bounds "
          "do not hold for it",
          &result.diagnostics);
    result.outcomes.push_back(
        {std::move(specs.mappings[m]), std::move(cost),
         m < specs.mapping_places.size() ? std::move(specs.mapping_places[m]) : MappingPlaces{}});
  }
  console.log.note(fmt::format("evaluated {} mappings", result.outcomes.size()));
  publish(result, arguments.output, console);
  return exit_code_of(result.status);
}

}  // namespace sluice::cli
