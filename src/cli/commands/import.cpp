#include "sluice/frontend/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/output_folder.h"
#include "commands.h"
#include "report/document/import_document.h"

namespace sluice::cli {
ExitCode run_import(const ImportArguments& arguments, const Console& console) {
  ImportOptions options;
  options.variables = variables_of(arguments.assignments);
  options.energy_file = arguments.energy_file;
  const Result<ImportedSpecs> imported = import_specs(arguments.files, options);
  if (!imported) throw Failure(imported.error());
  make_output_folder(arguments.folder);
  const std::filesystem::path folder = arguments.folder;
  std::vector<std::string> written;
  const auto write = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    write_atomically(folder / name, fmt::format("# Imported from {}\n{}", imported->format, text));
    written.push_back((folder / name).string());
  };
  write("workload.yaml", imported->workload);
  write("arch.yaml", imported->arch);
  write("mapping.yaml", imported->mapping);
  write("constraints.yaml", imported->constraints);
  if (imported->onnx && !imported->onnx->numbers.empty()) {
    write_atomically(folder / "inputs.json", numbers_text(*imported->onnx));
    written.push_back((folder / "inputs.json").string());
  }
  if (arguments.json) {
    console.out << document_text(import_document(*imported, arguments.files, written));
    return ExitCode::kSuccess;
  }
  print_diagnostics(console, imported->notes);
  if (imported->onnx) console.out << import_summary(*imported->onnx);
  const std::size_t n_notes = imported->notes.size();
  console.out << fmt::format("{}: wrote {}{}\n", imported->format, fmt::join(written, ", "),
                             n_notes == 0   ? ""
                             : n_notes == 1 ? "; 1 note"
                                            : fmt::format("; {} notes", n_notes));
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
