#include <filesystem>
#include <ostream>

#include "cli/commands/commands.h"
#include "cli/io/failure.h"
#include "cli/io/text_of_file.h"
#include "report/text/comparison_text.h"
#include "sluice/report/comparison.h"

namespace sluice::cli {

ExitCode run_compare(const CompareArguments& arguments, const Console& console) {
  std::vector<NamedText> documents;
  for (const std::string& name : arguments.results) {
    if (const auto text = arguments.texts.find(name); text != arguments.texts.end()) {
      documents.push_back({name, text->second});
      continue;
    }
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(name, ignored);
    const std::string file =
        is_folder ? (std::filesystem::path(name) / "result.json").string() : name;
    documents.push_back({name, text_of_file(file)});
  }
  const auto comparison = compare_results(documents);
  if (!comparison) throw Failure(comparison.error());
  console.out << (arguments.json ? document_text(*comparison)
                                 : comparison_text(console, *comparison))
              << std::flush;
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
