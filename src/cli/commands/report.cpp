#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/output_folder.h"
#include "cli/io/text_of_file.h"
#include "commands.h"
#include "sluice/report/report_page.h"
#include "sluice/sweep/design.h"
#include "sluice/sweep/sweep_table.h"

namespace sluice::cli {
namespace {

/// The file that a name stands for: itself, or the result in a folder that `-o` wrote.
std::string result_file(const std::string& name) {
  return std::filesystem::is_directory(name)
             ? (std::filesystem::path(name) / "result.json").string()
             : name;
}

/// What keeps a document from being shown; empty where nothing does.
std::string trouble_with(const nlohmann::json& document) {
  if (!document.is_object() || !document.contains("schema"))
    return "this is no result document: it has no `schema`";
  const auto& schema = document["schema"];
  if (schema == kDesignSchema) return "a report does not show the result of a design search";
  const bool is_sweep = schema == kSweepSchema;
  if (!is_sweep && schema != kResultSchema)
    return fmt::format("the schema is {}; a report shows {} and {}", schema.dump(), kResultSchema,
                       kSweepSchema);
  if (is_sweep)
    return document.contains("runs") && document["runs"].is_array() && !document["runs"].empty()
               ? ""
               : "this sweep has no `runs`";
  if (!document.contains("mappings") || !document["mappings"].is_array())
    return "this result has no `mappings`";
  for (const auto& mapping : document["mappings"])
    if (!mapping.contains("energy_j") && !mapping.contains("violations"))
      return "its mappings have no costs; a report shows results of map and evaluate";
  return {};
}

NamedDocument checked(const std::string& name, const std::string& file, std::string text) {
  const std::string of_results =
      "results are what `sluice map … -o DIR` writes, DIR/result.json, and databases of "
      "`sluice sweep … -o FILE`";
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw Failure(ExitCode::kBadInput,
                  Diagnostics{error_about_file(file, "this is no JSON", of_results)});
  const bool is_design =
      json.is_object() && json.value("schema", nlohmann::json()) == kDesignSchema;
  const std::string hint =
      is_design ? "show a workload on the design: sluice map WORKLOAD DIR/arch.yaml --report FILE"
                : of_results;
  if (const std::string trouble = trouble_with(json); !trouble.empty())
    throw Failure(ExitCode::kBadInput, Diagnostics{error_about_file(file, trouble, hint)});
  return {name, std::move(text)};
}

/// Every sweep of a database that has a run.
std::vector<NamedDocument> sweeps_of(const std::string& file) {
  const SweepDatabase database = value_or_fail(SweepDatabase::open(file));
  std::vector<NamedDocument> documents;
  for (const SweepPlan& plan : value_or_fail(database.sweeps())) {
    const SweepTable table = value_or_fail(sweep_table(plan, database));
    if (table.rows.empty()) continue;
    const std::string name =
        documents.empty() ? file : fmt::format("{} #{}", file, documents.size() + 1);
    documents.push_back({name, document_text(table)});
  }
  if (documents.empty())
    throw Failure(ExitCode::kBadInput,
                  Diagnostics{error_about_file(file, "no run of a sweep is in it",
                                               "`sluice sweep … -o FILE` adds some")});
  return documents;
}

std::vector<NamedDocument> read_documents(const ReportArguments& arguments) {
  std::vector<NamedDocument> documents;
  for (const std::string& name : arguments.results) {
    if (const auto text = arguments.texts.find(name); text != arguments.texts.end()) {
      documents.push_back(checked(name, name, text->second));
      continue;
    }
    const std::string file = result_file(name);
    if (is_sweep_database(file)) {
      const std::vector<NamedDocument> sweeps = sweeps_of(file);
      documents.insert(documents.end(), sweeps.begin(), sweeps.end());
    } else {
      documents.push_back(checked(name, file, text_of_file(file)));
    }
  }
  return documents;
}

}  // namespace

ExitCode run_report(const ReportArguments& arguments, const Console& console) {
  const std::string page = report_page(read_documents(arguments));
  write_atomically(arguments.file, page);
  constexpr double kBytesPerMegabyte = 1e6;
  console.out << fmt::format("wrote {} ({:.1f} MB): open it in a browser\n", arguments.file,
                             static_cast<double>(page.size()) / kBytesPerMegabyte);
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
