#include "publish.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/output_folder.h"
#include "report/text/summary.h"
#include "sluice/model/keep_rules.h"
#include "sluice/report/report_page.h"
#include "sluice/support/human_units.h"

namespace sluice::cli {
namespace {

/// All mappings, best first, as one stream of documents that `evaluate` reads.
std::string mappings_text(const RunResult& result) {
  std::string text;
  for (const MappingOutcome& outcome : result.outcomes) {
    if (!text.empty()) text += "---\n";
    text += to_yaml(outcome.mapping, result.problem->workload, result.problem->arch);
  }
  return text;
}

/// `matmul on simple`
std::string name_of(const RunResult& result) {
  if (!result.problem) return result.command;
  return result.problem->workload.name + " on " + result.problem->arch.name;
}

}  // namespace

std::string specs_text(const BoundProblem& problem) {
  return to_yaml(problem.workload) + to_yaml(problem.arch);
}

void warn_of_mapping(const BoundProblem& problem, const Mapping& mapping,
                     const std::string& consequence, Diagnostics* diagnostics) {
  for (const Violation& violation : keep_violations(problem, mapping))
    diagnostics->push_back({Severity::kWarning, {}, violation.message, "", consequence});
  for (const UnheldInput& input : unheld_inputs(problem, mapping)) {
    const std::string& memory = problem.arch[input.memory].name;
    diagnostics->push_back(
        {Severity::kWarning,
         {},
         fmt::format("{} ({}) does not fit in {}, the outermost memory that holds it: its tiles "
                     "are there, and what brings them costs nothing",
                     problem.workload[input.tensor].name, human_size(input.bits), memory),
         "",
         fmt::format("a memory further out than {}, with room for it, prices that", memory)});
  }
}

void prepare_output(const OutputArguments& output) {
  if (!output.folder.empty()) make_output_folder(output.folder);
  if (!output.report.empty()) const AtomicFile tried(output.report);
}

namespace {

void write_result(const RunResult& result, const std::filesystem::path& folder,
                  const std::string& document) {
  if (!result.outcomes.empty()) write_atomically(folder / "mapping.yaml", mappings_text(result));
  if (result.problem)
    write_where_different(folder / kSpecsFile, result.specs_text.empty()
                                                   ? specs_text(*result.problem)
                                                   : result.specs_text);
  write_atomically(folder / "result.json", document);
}

}  // namespace

void write_result(const RunResult& result, const std::string& folder) {
  write_result(result, folder, document_text(result));
}

void publish(const RunResult& result, const OutputArguments& output, const Console& console) {
  print_diagnostics(console, result.diagnostics);
  std::string document;
  if (output.json || !output.folder.empty() || !output.report.empty())
    document = document_text(result);
  if (!output.folder.empty()) write_result(result, std::filesystem::path(output.folder), document);
  if (!output.report.empty())
    write_atomically(output.report, report_page({{name_of(result), document}}));
  console.out << (output.json ? document : summary_text(console, result)) << std::flush;
}

}  // namespace sluice::cli
