#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/output_folder.h"
#include "cli/io/scheme_lines.h"
#include "commands.h"
#include "sluice/report/report_page.h"

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
  if (schema != kResultSchema)
    return fmt::format("the schema is {}; a report shows {}", schema.dump(), kResultSchema);
  if (!document.contains("mappings") || !document["mappings"].is_array())
    return "this result has no `mappings`";
  for (const auto& mapping : document["mappings"])
    if (!mapping.contains("energy_j") && !mapping.contains("violations"))
      return "its mappings have no costs; a report shows results of map and evaluate";
  return {};
}

NamedDocument read_document(const std::string& name) {
  const std::string file = result_file(name);
  NamedDocument document{name, text_of_file(file)};
  const std::string hint = "results are what `sluice map … -o DIR` writes: DIR/result.json";
  const auto json = nlohmann::json::parse(document.text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw Failure(ExitCode::kBadInput,
                  Diagnostics{error_about_file(file, "this is no JSON", hint)});
  if (const std::string trouble = trouble_with(json); !trouble.empty())
    throw Failure(ExitCode::kBadInput, Diagnostics{error_about_file(file, trouble, hint)});
  return document;
}

}  // namespace

ExitCode run_report(const ReportArguments& arguments, const Console& console) {
  std::vector<NamedDocument> documents;
  for (const std::string& name : arguments.results) documents.push_back(read_document(name));
  const std::string page = report_page(documents);
  write_atomically(arguments.file, page);
  constexpr double kBytesPerMegabyte = 1e6;
  console.out << fmt::format("wrote {} ({:.1f} MB): open it in a browser\n", arguments.file,
                             static_cast<double>(page.size()) / kBytesPerMegabyte);
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
