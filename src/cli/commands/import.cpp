#include "sluice/frontend/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/output_folder.h"
#include "commands.h"
#include "report/document/import_document.h"
#include "sluice/frontend/load_any.h"
#include "sluice/support/failed.h"

namespace sluice::cli {
namespace {

/// What is wrong with `--set`, as whoever loads these files says it, and what is not asked for.
Diagnostics about_settings(const std::vector<std::string>& files, const ImportOptions& options) {
  LoadOptions load;
  load.variables = options.variables;
  load.limits = options.limits;
  const Result<Specs> specs = load_any_specs(files, load, options.energy_file);
  Diagnostics found = specs ? specs->warnings : specs.error();
  std::erase_if(found, [](const Diagnostic& diagnostic) {
    return !diagnostic.location.file.starts_with("--set ");
  });
  return found;
}

void refuse_paths(const ImportOptions& options) {
  Diagnostics mistakes;
  for (const auto& [name, value] : options.variables) {
    if (name.find('.') == std::string::npos) continue;
    mistakes.push_back(error_without_place(
        "`import` sets variables, and no fields by their path",
        "change the field in what `import` writes, or give it to `map` with the imported files"));
    mistakes.back().location.file = fmt::format("--set {}={}", name, value);
  }
  if (!mistakes.empty()) throw Failure(mistakes);
}

}  // namespace

ImportedSpecs import_or_fail(const std::vector<std::string>& files, const ImportOptions& options) {
  refuse_paths(options);
  ImportedSpecs imported = value_or_fail(import_specs(files, options));
  if (options.variables.empty()) return imported;
  const Diagnostics found = about_settings(files, options);
  if (has_errors(found)) throw Failure(found);
  imported.notes.insert(imported.notes.end(), found.begin(), found.end());
  return imported;
}

ExitCode run_import(const ImportArguments& arguments, const Console& console) {
  ImportOptions options;
  options.variables = variables_of(arguments.assignments);
  options.energy_file = arguments.energy_file;
  const ImportedSpecs imported = import_or_fail(arguments.files, options);
  make_output_folder(arguments.folder);
  const std::filesystem::path folder = arguments.folder;
  std::vector<std::string> written;
  const auto write = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    write_atomically(folder / name, fmt::format("# Imported from {}\n{}", imported.format, text));
    written.push_back((folder / name).string());
  };
  write("workload.yaml", imported.workload);
  write("arch.yaml", imported.arch);
  write("mapping.yaml", imported.mapping);
  write("constraints.yaml", imported.constraints);
  if (imported.onnx && !imported.onnx->numbers.empty()) {
    write_atomically(folder / "inputs.json", numbers_text(*imported.onnx));
    written.push_back((folder / "inputs.json").string());
  }
  if (arguments.json) {
    console.out << document_text(import_document(imported, arguments.files, written));
    return ExitCode::kSuccess;
  }
  print_diagnostics(console, imported.notes);
  if (imported.onnx) console.out << import_summary(*imported.onnx);
  const std::size_t n_notes = imported.notes.size();
  console.out << fmt::format("{}: wrote {}{}\n", imported.format, fmt::join(written, ", "),
                             n_notes == 0   ? ""
                             : n_notes == 1 ? "; 1 note"
                                            : fmt::format("; {} notes", n_notes));
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
